// SPDX-License-Identifier: Apache-2.0
package gatun.cloud.vertexai;

import gatun.cloud.CloudPort;
import gatun.protocol.Endpoint;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.Section;
import gatun.protocol.flags.FlagType;
import java.util.List;
import java.util.Optional;

/** Has the server take requests of Vertex AI, where flags ask for it. */
public final class VertexAiProtocolProvider implements ProtocolProvider {
    private static final int PRECEDENCE = 300;
    private static final FlagType<String> PATH_OF_URL = FlagType.TEXT.labelled("PATH");

    private final FlagGroup flags = new FlagGroup();
    private final CloudPort port = new CloudPort(
            flags,
            "vertex-ai",
            "Vertex AI",
            " So it is where AIP_MODE=PREDICTION is set, which also turns HTTP and gRPC off unless flags say otherwise.",
            " The variable AIP_HTTP_PORT sets it too.");
    private final Flag<String> defaultModel = flags.flag(
            "--vertex-ai-default-model",
            FlagType.TEXT,
            "",
            "The model of Vertex AI requests that name none; needed unless there is only one.");
    private final Flag<String> predictRoute = flags.flag(
            "--vertex-ai-predict-route",
            PATH_OF_URL,
            "",
            "The path of predictions. The variable AIP_PREDICT_ROUTE sets it too.");
    private final Flag<String> healthRoute = flags.flag(
            "--vertex-ai-health-route",
            PATH_OF_URL,
            "",
            "The path of health checks. The variable AIP_HEALTH_ROUTE sets it too.");

    /** For {@link java.util.ServiceLoader}. */
    public VertexAiProtocolProvider() {}

    @Override
    public int precedence() {
        return PRECEDENCE;
    }

    @Override
    public List<Section> flags() {
        return List.of(new Section(CloudPort.SECTION, CloudPort.AFTER, flags));
    }

    @Override
    public List<Endpoint> ports(CommonAddresses common) {
        return port.endpoints(common);
    }

    /** The settings. */
    public VertexAiSettings settings() {
        return new VertexAiSettings(predictRoute.value(), healthRoute.value(), defaultModel.value());
    }

    @Override
    public Optional<Protocol> create(ProtocolContext context) {
        return port.enabled()
                ? Optional.of(new VertexAiProtocol(context.server(), context.settings(), settings(), context.metrics()))
                : Optional.empty();
    }
}
