// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.http.HttpTimeouts;
import gatun.listener.TlsFiles;
import gatun.server.commandline.FlagGroup.Flag;
import gatun.server.commandline.FlagGroup.OverlayFlags;
import gatun.server.settings.ListenerSettings;
import gatun.server.settings.ListenerSettings.HttpSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The HTTP listener. Read once. */
final class HttpFlags extends OverlayFlags<ListenerSettings> {
    private final BindFlags bind =
            new BindFlags(this, "http", "HTTP", "", standard.http().bind());
    private final Flag<Long> maxInputSize = flag(
            "--http-max-input-size",
            FlagType.BYTE_SIZE,
            standard.http().maxInputSize(),
            "The most bytes that a request may have.");
    private final Flag<Duration> idleTimeout = flag(
            "--http-idle-timeout-secs",
            FlagType.INTERVAL,
            standard.http().timeouts().idleTimeout(),
            "How long a client may send or take nothing while it should, or take to send the head of a request,"
                    + " before its connection is closed.");
    private final Flag<Long> bodyByteRate = flag(
            "--http-min-body-rate",
            FlagType.BYTE_SIZE_OR_NONE,
            standard.http().timeouts().bodyByteRate(),
            "The bytes a second that a client has to send of a body: one that has fallen behind by"
                    + " --http-idle-timeout-secs has its connection closed. 0 for any number.");
    private final Flag<List<String>> allowedOrigins = several(
            "--http-cors-allow-origin",
            FlagType.TEXT.labelled("ORIGIN"),
            "Lets browsers show answers to pages of ORIGIN, such as https://console.example, or * for any;"
                    + " may be given several times.");

    private final Flag<Boolean> healthBodies = yesOrNo(
            "--http-health-bodies",
            standard.http().healthBodies(),
            "Whether /v2/health and the readiness of models are told as JSON, which KServe's clients read, or by the"
                    + " status alone, as Triton does and 'gatun tritonserver' unless told otherwise.");

    /** The port of TensorFlow Serving's REST API alone. */
    final Flag<Integer> restPort = flag(
            "--rest_api_port",
            FlagType.PORT,
            standard.tensorFlow().restPort(),
            "A port for TensorFlow Serving's REST API alone, which --http-port speaks too; 0 for none.");

    /** Whether browsers may show its responses to pages of any server. */
    final Flag<Boolean> restCors = yesOrNo(
            "--rest_api_enable_cors_support",
            standard.tensorFlow().protocol().anyOrigin(),
            "Whether browsers may show answers of TensorFlow Serving's REST API to pages of any server.");

    /** How long a model may take for one of its requests. */
    final Flag<Duration> restTimeout = flag(
            "--rest_api_timeout_in_ms",
            FlagType.MILLISECONDS.labelled("MILLISECONDS"),
            standard.tensorFlow().protocol().timeout(),
            "How long a model may take for a request of TensorFlow Serving's REST API.");

    /** Whether signatures must call their methods as they are asked. */
    final Flag<Boolean> methodNames = yesOrNo(
            "--enable_signature_method_name_check",
            standard.tensorFlow().protocol().methodNames(),
            "Whether a signature that is asked to classify or regress must call its method so, over REST and"
                    + " gRPC.");

    HttpFlags(ListenerSettings standard) {
        super(standard);
    }

    /** The settings, with {@code tls} on the port. */
    HttpSettings settings(Optional<TlsFiles> tls) {
        return new HttpSettings(
                bind.settings(tls),
                maxInputSize.value(),
                new HttpTimeouts(idleTimeout.value(), bodyByteRate.value()),
                Set.copyOf(allowedOrigins.value()),
                healthBodies.value());
    }
}
