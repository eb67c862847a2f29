// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.settings.TracingSettings;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The tracing of requests. Filled by picocli, read once. */
final class TraceFlags {
    @Option(
            names = "--trace-config",
            paramLabel = "K=V",
            converter = TraceOption.Reader.class,
            description =
                    "Which requests are traced: level=TIMESTAMPS or level=TENSORS, rate=N for one of N, count=N for at"
                            + " most N; and where to: triton,file=PATH, triton,log-frequency=N for a file after each N,"
                            + " or mode=opentelemetry with opentelemetry,url=URL, opentelemetry,resource=NAME=VALUE;"
                            + " may be given several times.")
    List<TraceOption> options = new ArrayList<>();

    TracingSettings settings() {
        return TraceOption.apply(options);
    }
}
