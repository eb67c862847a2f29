// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.v1;

import gatun.grpc.message.ControlMethods;
import gatun.grpc.message.InPlaceMarshaller;
import gatun.grpc.message.InPlaceMethods;
import gatun.grpc.message.InferenceCall;
import gatun.grpc.message.InferenceStream;
import gatun.grpc.message.RawAlignment;
import gatun.protocol.v1.GRPCServiceGrpc;
import gatun.runtime.server.InferenceServer;
import gatun.v1.V1Api;
import io.grpc.ServerServiceDefinition;
import java.util.List;

/** Puts together the v1 service, each method with its handler. */
public final class V1Services {
    private V1Services() {}

    /** The service {@code nvidia.inferenceserver.GRPCService} of one server, of which {@code api} is the legacy API. */
    public static ServerServiceDefinition of(InferenceServer server, V1Api api) {
        Inferences inferences = new Inferences(server, api);
        UnaryExchange unary = new UnaryExchange(inferences);
        InferDecoder decoder = new InferDecoder(server.limits(), server.heap());
        InPlaceMarshaller<InferMessage> marshaller = new InPlaceMarshaller<>(
                decoder::decode, start -> RawAlignment.landingOffset(start, InferDecoder.RAW_INPUT));
        return InPlaceMethods.replace(
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
    }
}
