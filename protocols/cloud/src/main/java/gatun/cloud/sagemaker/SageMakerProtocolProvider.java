// SPDX-License-Identifier: Apache-2.0
package gatun.cloud.sagemaker;

import gatun.cloud.CloudPort;
import gatun.memory.tensor.GatunException;
import gatun.protocol.Endpoint;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.Section;
import gatun.protocol.flags.FlagType;
import gatun.protocol.flags.FlagType.FlagException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Has the server take requests of SageMaker, where flags ask for it. */
public final class SageMakerProtocolProvider implements ProtocolProvider {
    private static final int PRECEDENCE = 310;

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

    private final FlagGroup flags = new FlagGroup();
    private final CloudPort port = new CloudPort(flags, "sagemaker", "SageMaker", "", "");
    private final Flag<Optional<PortRange>> otherPorts = flags.optional(
            "--sagemaker-safe-port-range",
            FlagType.of("FIRST-LAST", PortRange::of),
            "The ports that everything but SageMaker's endpoint may listen on, such as 9000-9100 (default: any).");
    private final Flag<SageMakerSettings.Ping> ping = flags.flag(
            "--sagemaker-ping-mode",
            PING,
            SageMakerSettings.STANDARD.ping(),
            "Whether /ping tells that the server is ready or live. The variable SAGEMAKER_TRITON_PING_MODE sets it"
                    + " too.");
    private final Flag<String> defaultModel = flags.flag(
            "--sagemaker-default-model",
            FlagType.TEXT,
            SageMakerSettings.STANDARD.defaultModel(),
            "The model of /invocations. The variable SAGEMAKER_TRITON_DEFAULT_MODEL_NAME sets it too.");
    private final Flag<SageMakerSettings.Invocation> invocation = flags.flag(
            "--sagemaker-inference-type",
            INVOCATION,
            SageMakerSettings.STANDARD.invocation(),
            "How /invocations is answered: infer, generate or generate_stream. The variable"
                    + " SAGEMAKER_TRITON_INFERENCE_TYPE sets it too.");
    private final Flag<Path> models = flags.flag(
            "--sagemaker-model-directory",
            FlagType.PATH.labelled("DIR"),
            SageMakerSettings.STANDARD.models(),
            "The folder that requests to /models may load models from, and no other.");

    /** For {@link java.util.ServiceLoader}. */
    public SageMakerProtocolProvider() {}

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

    /** Refuses ports of others that SageMaker does not allow. */
    @Override
    public void begin(List<Endpoint> all) {
        if (!port.enabled()) {
            return;
        }
        otherPorts.value().ifPresent(allowed -> all.stream()
                .filter(endpoint -> !port.is(endpoint))
                .forEach(endpoint -> endpoint.port().ifPresent(number -> allowed.require(number, endpoint))));
    }

    @Override
    public Optional<Protocol> create(ProtocolContext context) {
        SageMakerSettings settings =
                new SageMakerSettings(ping.value(), defaultModel.value(), invocation.value(), models.value());
        return port.enabled()
                ? Optional.of(new SageMakerProtocol(context.server(), context.settings(), settings))
                : Optional.empty();
    }

    /** Ports, from the first to the last. */
    private record PortRange(int first, int last) {
        private static PortRange of(String text) {
            int dash = text.indexOf('-');
            try {
                PortRange range = new PortRange(
                        Integer.parseInt(text.substring(0, Math.max(0, dash))),
                        Integer.parseInt(text.substring(dash + 1)));
                if (range.first >= 0 && range.last >= range.first) {
                    return range;
                }
            } catch (NumberFormatException e) {
                // Said below.
            }
            throw new FlagException("'" + text + "' is not a range of ports, such as 9000-9100");
        }

        private void require(int port, Endpoint endpoint) {
            if (port < first || port > last) {
                throw GatunException.invalidArgument("The server cannot listen to "
                        + endpoint.kind().title() + " requests at port " + port + ", allowed port range is [" + first
                        + ", " + last + "]");
            }
        }
    }
}
