// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.grpc.GrpcService;
import gatun.grpc.ResponseCompression;
import gatun.grpc.calls.CallServices.CallLocation;
import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.message.ControlMethods;
import gatun.grpc.message.InPlaceMethods;
import gatun.grpc.message.InPlaceMethods.InPlaceMarshaller;
import gatun.grpc.message.InferenceCall;
import gatun.grpc.message.InferenceStream;
import gatun.grpc.message.RawMessage;
import gatun.grpc.message.RawMessage.RawAlignment;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.access.PeerLocation;
import gatun.runtime.server.InferenceServer;
import gatun.v2.grpc.InferRequests.RequestParameters;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import io.grpc.Metadata;
import io.grpc.ServerServiceDefinition;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Puts together the v2 service, each method with its handler. */
public final class V2Services {
    private static final Map<String, ApiGroup> GROUPS = Map.ofEntries(
            Map.entry("ServerLive", ApiGroup.HEALTH),
            Map.entry("ServerReady", ApiGroup.HEALTH),
            Map.entry("ModelReady", ApiGroup.HEALTH),
            Map.entry("ServerMetadata", ApiGroup.METADATA),
            Map.entry("ModelMetadata", ApiGroup.METADATA),
            Map.entry("ModelInfer", ApiGroup.INFERENCE),
            Map.entry("ModelStreamInfer", ApiGroup.INFERENCE),
            Map.entry("ModelConfig", ApiGroup.MODEL_CONFIG),
            Map.entry("ModelStatistics", ApiGroup.STATISTICS),
            Map.entry("RepositoryIndex", ApiGroup.MODEL_REPOSITORY),
            Map.entry("RepositoryModelLoad", ApiGroup.MODEL_REPOSITORY),
            Map.entry("RepositoryModelUnload", ApiGroup.MODEL_REPOSITORY),
            Map.entry("SystemSharedMemoryStatus", ApiGroup.SHARED_MEMORY),
            Map.entry("SystemSharedMemoryRegister", ApiGroup.SHARED_MEMORY),
            Map.entry("SystemSharedMemoryUnregister", ApiGroup.SHARED_MEMORY),
            Map.entry("CudaSharedMemoryStatus", ApiGroup.SHARED_MEMORY),
            Map.entry("CudaSharedMemoryRegister", ApiGroup.SHARED_MEMORY),
            Map.entry("CudaSharedMemoryUnregister", ApiGroup.SHARED_MEMORY),
            Map.entry("TraceSetting", ApiGroup.TRACE),
            Map.entry("LogSettings", ApiGroup.LOGGING));

    /** The methods whose responses may be compressed. */
    private static final Set<String> INFERENCES = Set.of("ModelInfer", "ModelStreamInfer");

    private V2Services() {}

    /** The service {@code inference.GRPCInferenceService}; {@code forwarding} makes metadata parameters of requests. */
    public static GrpcService of(
            InferenceServer server,
            ClientRegions regions,
            HeaderForwarding forwarding,
            ResponseCompression compression) {
        InferRequests requests = new InferRequests(server, regions, forwarding);
        InferDecoder decoder = new InferDecoder(server.limits(), server.heap());
        InPlaceMarshaller<InferMessage> marshaller = new InPlaceMarshaller<>(
                bytes -> decoder.decode(bytes, RawMessage.NOTHING),
                start -> RawAlignment.landingOffset(start, InferDecoder.RAW_INPUT_CONTENTS));
        ServerServiceDefinition service = InPlaceMethods.replace(
                ControlMethods.limit(new ControlService(server, regions).bindService(), server),
                List.of(
                        InPlaceMethods.method(
                                GRPCInferenceServiceGrpc.getModelInferMethod(),
                                marshaller,
                                server,
                                (call, headers) -> InferenceCall.begin(call, headers, server, requests)),
                        InPlaceMethods.method(
                                GRPCInferenceServiceGrpc.getModelStreamInferMethod(),
                                marshaller,
                                server,
                                (call, headers) ->
                                        InferenceStream.begin(call, server, new StreamExchange(requests, headers)))));
        return new GrpcService(compression.applyTo(service, INFERENCES), GROUPS);
    }

    /** Converts one ModelStreamInfer call. A failure is a message, or ends the stream if the client asked. */
    static final class StreamExchange implements InferenceStream.Exchange<InferMessage> {
        private static final Metadata.Key<String> STRICT =
                Metadata.Key.of("triton_grpc_error", Metadata.ASCII_STRING_MARSHALLER);

        private final InferRequests requests;
        private final Metadata headers;
        private final PeerLocation client = CallLocation.current();
        private final boolean strict;

        /** The call of the thread that makes it, with these headers. */
        StreamExchange(InferRequests requests, Metadata headers) {
            this.requests = requests;
            this.headers = headers;
            this.strict = "true".equals(headers.get(STRICT));
        }

        @Override
        public InferenceRequest request(InferMessage message) {
            return requests.request(message, headers, client, true);
        }

        @Override
        public OutboundMessage answer(InferMessage message, InferenceResponse response, boolean last) {
            return InferEncoder.encodeStreamed(response, last);
        }

        @Override
        public Optional<OutboundMessage> end(InferMessage message, InferenceRequest request) {
            ModelVersion model = request.model();
            return RequestParameters.wantsEmptyFinal(message)
                    ? Optional.of(InferEncoder.encodeEmptyFinal(model.name(), model.versionText(), message.id()))
                    : Optional.empty();
        }

        @Override
        public Optional<OutboundMessage> failure(InferMessage message, GatunException failure, boolean executed) {
            return strict
                    ? Optional.empty()
                    : Optional.of(InferEncoder.encodeError(failure.getMessage(), message, executed));
        }

        @Override
        public Optional<OutboundMessage> failureAmongOthers(InferMessage message, GatunException failure) {
            return strict
                    ? Optional.empty()
                    : Optional.of(InferEncoder.encodeErrorAmongOthers(failure.getMessage(), message));
        }
    }
}
