// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagType;
import gatun.server.settings.TracingSettings;
import java.util.List;

/** The tracing of requests. Read once. */
final class TraceFlags extends FlagGroup {
    private final Flag<List<TraceOption>> options = several(
            "--trace-config",
            FlagType.of("K=V", new TraceOption.Reader()::convert),
            "Which requests are traced: level=TIMESTAMPS or level=TENSORS, rate=N for one of N, count=N for at"
                    + " most N; and where to: triton,file=PATH, triton,log-frequency=N for a file after each N,"
                    + " or mode=opentelemetry with opentelemetry,url=URL, opentelemetry,resource=NAME=VALUE;"
                    + " may be given several times.");

    TracingSettings settings() {
        return TraceOption.apply(options.value());
    }
}
