// SPDX-License-Identifier: Apache-2.0
package gatun.v1.grpc;

import gatun.grpc.GrpcService;
import gatun.grpc.message.ControlMethods;
import gatun.grpc.message.InPlaceMethods;
import gatun.grpc.message.InPlaceMethods.InPlaceMarshaller;
import gatun.grpc.message.InferenceCall;
import gatun.grpc.message.InferenceStream;
import gatun.grpc.message.RawMessage.RawAlignment;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.server.InferenceService;
import gatun.v1.V1Api;
import gatun.wire.v1.GRPCServiceGrpc;
import io.grpc.ServerServiceDefinition;
import java.util.List;
import java.util.Map;

/** Puts together the v1 service, each method with its handler. */
public final class V1Services {
    private static final Map<String, ApiGroup> GROUPS = Map.ofEntries(
            Map.entry("Health", ApiGroup.HEALTH),
            Map.entry("Status", ApiGroup.METADATA),
            Map.entry("Infer", ApiGroup.INFERENCE),
            Map.entry("StreamInfer", ApiGroup.INFERENCE),
            Map.entry("ModelControl", ApiGroup.MODEL_REPOSITORY),
            Map.entry("Repository", ApiGroup.MODEL_REPOSITORY),
            Map.entry("SharedMemoryControl", ApiGroup.SHARED_MEMORY));

    private V1Services() {}

    /** The service {@code nvidia.inferenceserver.GRPCService} of one server, of which {@code api} is the legacy API. */
    public static GrpcService of(InferenceService server, V1Api api) {
        Inferences inferences = new Inferences(server, api);
        UnaryExchange unary = new UnaryExchange(inferences);
        InferDecoder decoder = new InferDecoder(server.limits(), server.heap());
        InPlaceMarshaller<V1InferMessage> marshaller = new InPlaceMarshaller<>(
                decoder::decode, start -> RawAlignment.landingOffset(start, InferDecoder.RAW_INPUT));
        ServerServiceDefinition service = InPlaceMethods.replace(
                ControlMethods.limit(new ControlService(api).bindService(), server),
                List.of(
                        InPlaceMethods.method(
                                GRPCServiceGrpc.getInferMethod(),
                                marshaller,
                                server,
                                (call, headers) -> InferenceCall.begin(call, headers, server, unary)),
                        InPlaceMethods.method(
                                GRPCServiceGrpc.getStreamInferMethod(),
                                marshaller,
                                server,
                                (call, headers) ->
                                        InferenceStream.begin(call, server, new StreamExchange(inferences, headers)))));
        return new GrpcService(service, GROUPS);
    }
}
