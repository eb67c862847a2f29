// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.cloud.sagemaker.SageMakerSettings;
import gatun.server.commandline.FlagGroup.Flag;
import gatun.server.commandline.FlagGroup.OverlayFlags;
import gatun.server.settings.CloudSettings;
import gatun.server.settings.CloudSettings.Bind;
import gatun.server.settings.CloudSettings.PortRange;
import gatun.server.settings.CloudSettings.SageMaker;
import gatun.server.settings.CloudSettings.VertexAi;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.TypeConversionException;

/** The endpoints for Vertex AI and SageMaker. Read once. */
final class CloudFlags extends OverlayFlags<CloudSettings> {
    private static final String LIKE_HTTP = "The address to listen on (default: that of --http-address).";
    private static final String ANY_PORT = "The port to listen on, 0 for any free port.";
    private static final FlagType<String> PATH_OF_URL = FlagType.TEXT.labelled("PATH");

    private static final FlagType<SageMakerSettings.Ping> PING = FlagType.choice(
            "MODE",
            "a mode: ready or live",
            Map.of("ready", SageMakerSettings.Ping.READY, "live", SageMakerSettings.Ping.LIVE));

    private static final FlagType<SageMakerSettings.Invocation> INVOCATION = FlagType.choice(
            "TYPE",
            "a type: infer, generate or generate_stream",
            Map.of(
                    "infer",
                    SageMakerSettings.Invocation.INFER,
                    "generate",
                    SageMakerSettings.Invocation.GENERATE,
                    "generate_stream",
                    SageMakerSettings.Invocation.GENERATE_STREAM));

    private final Flag<Boolean> allowVertexAi = yesOrNo(
            "--allow-vertex-ai",
            standard.vertexAi().bind().enabled(),
            "Whether Vertex AI requests are taken. So it is where AIP_MODE=PREDICTION is set, which also turns"
                    + " HTTP and gRPC off unless flags say otherwise.");
    private final Flag<Optional<String>> vertexAiAddress =
            optional("--vertex-ai-address", FlagType.TEXT.labelled("ADDRESS"), LIKE_HTTP);
    private final Flag<Integer> vertexAiPort = flag(
            "--vertex-ai-port",
            FlagType.PORT,
            standard.vertexAi().bind().port(),
            ANY_PORT + " The variable AIP_HTTP_PORT sets it too.");
    private final Flag<String> vertexAiDefaultModel = flag(
            "--vertex-ai-default-model",
            FlagType.TEXT,
            standard.vertexAi().defaultModel(),
            "The model of Vertex AI requests that name none; needed unless there is only one.");
    private final Flag<String> predictRoute = flag(
            "--vertex-ai-predict-route",
            PATH_OF_URL,
            standard.vertexAi().predictRoute(),
            "The path of predictions. The variable AIP_PREDICT_ROUTE sets it too.");
    private final Flag<String> healthRoute = flag(
            "--vertex-ai-health-route",
            PATH_OF_URL,
            standard.vertexAi().healthRoute(),
            "The path of health checks. The variable AIP_HEALTH_ROUTE sets it too.");
    private final Flag<Boolean> allowSageMaker = yesOrNo(
            "--allow-sagemaker", standard.sageMaker().bind().enabled(), "Whether SageMaker requests are taken.");
    private final Flag<Optional<String>> sageMakerAddress =
            optional("--sagemaker-address", FlagType.TEXT.labelled("ADDRESS"), LIKE_HTTP);
    private final Flag<Integer> sageMakerPort =
            flag("--sagemaker-port", FlagType.PORT, standard.sageMaker().bind().port(), ANY_PORT);
    private final Flag<Optional<PortRange>> otherPorts = optional(
            "--sagemaker-safe-port-range",
            FlagType.of("FIRST-LAST", CloudFlags::portRange),
            "The ports that everything but SageMaker's endpoint may listen on, such as 9000-9100 (default: any).");
    private final Flag<SageMakerSettings.Ping> ping = flag(
            "--sagemaker-ping-mode",
            PING,
            standard.sageMaker().protocol().ping(),
            "Whether /ping tells that the server is ready or live. The variable SAGEMAKER_TRITON_PING_MODE sets it"
                    + " too.");
    private final Flag<String> sageMakerDefaultModel = flag(
            "--sagemaker-default-model",
            FlagType.TEXT,
            standard.sageMaker().protocol().defaultModel(),
            "The model of /invocations. The variable SAGEMAKER_TRITON_DEFAULT_MODEL_NAME sets it too.");
    private final Flag<SageMakerSettings.Invocation> invocation = flag(
            "--sagemaker-inference-type",
            INVOCATION,
            standard.sageMaker().protocol().invocation(),
            "How /invocations is answered: infer, generate or generate_stream. The variable"
                    + " SAGEMAKER_TRITON_INFERENCE_TYPE sets it too.");
    private final Flag<Path> models = flag(
            "--sagemaker-model-directory",
            FlagType.PATH.labelled("DIR"),
            standard.sageMaker().protocol().models(),
            "The folder that requests to /models may load models from, and no other.");

    CloudFlags(CloudSettings standard) {
        super(standard);
    }

    private static PortRange portRange(String text) {
        int dash = text.indexOf('-');
        try {
            PortRange range = new PortRange(
                    Integer.parseInt(text.substring(0, Math.max(0, dash))), Integer.parseInt(text.substring(dash + 1)));
            if (range.first() >= 0 && range.last() >= range.first()) {
                return range;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new TypeConversionException("'" + text + "' is not a range of ports, such as 9000-9100");
    }

    CloudSettings settings() {
        return new CloudSettings(
                new VertexAi(
                        new Bind(allowVertexAi.value(), vertexAiAddress.value(), vertexAiPort.value()),
                        predictRoute.value(),
                        healthRoute.value(),
                        vertexAiDefaultModel.value()),
                new SageMaker(
                        new Bind(allowSageMaker.value(), sageMakerAddress.value(), sageMakerPort.value()),
                        otherPorts.value(),
                        new SageMakerSettings(
                                ping.value(), sageMakerDefaultModel.value(), invocation.value(), models.value())));
    }
}
