// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.http.HttpTimeouts;
import gatun.listener.TlsFiles;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.OverlayFlags;
import gatun.protocol.flags.FlagType;
import gatun.server.settings.ListenerSettings.HttpSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The HTTP listener. Read once. */
final class HttpFlags extends OverlayFlags<HttpSettings> {
    private final BindFlags bind = new BindFlags(this, "http", "HTTP", "", standard.bind());
    private final Flag<Long> maxInputSize = flag(
            "--http-max-input-size",
            FlagType.BYTE_SIZE,
            standard.maxInputSize(),
            "The most bytes that a request may have.");
    private final Flag<Duration> idleTimeout = flag(
            "--http-idle-timeout-secs",
            FlagType.INTERVAL,
            standard.timeouts().idleTimeout(),
            "How long a client may send or take nothing while it should, or take to send the head of a request,"
                    + " before its connection is closed.");
    private final Flag<Long> bodyByteRate = flag(
            "--http-min-body-rate",
            FlagType.BYTE_SIZE_OR_NONE,
            standard.timeouts().bodyByteRate(),
            "The bytes a second that a client has to send of a body: one that has fallen behind by"
                    + " --http-idle-timeout-secs has its connection closed. 0 for any number.");
    private final Flag<List<String>> allowedOrigins = several(
            "--http-cors-allow-origin",
            FlagType.TEXT.labelled("ORIGIN"),
            "Lets browsers show answers to pages of ORIGIN, such as https://console.example, or * for any;"
                    + " may be given several times.");

    private final Flag<Boolean> healthBodies = yesOrNo(
            "--http-health-bodies",
            standard.healthBodies(),
            "Whether /v2/health and the readiness of models are told as JSON, which KServe's clients read, or by the"
                    + " status alone, as Triton does and 'gatun tritonserver' unless told otherwise.");

    HttpFlags(HttpSettings standard) {
        super(standard);
    }

    HttpSettings settings(Optional<TlsFiles> tls) {
        return new HttpSettings(
                bind.settings(tls),
                maxInputSize.value(),
                new HttpTimeouts(idleTimeout.value(), bodyByteRate.value()),
                Set.copyOf(allowedOrigins.value()),
                healthBodies.value());
    }
}
