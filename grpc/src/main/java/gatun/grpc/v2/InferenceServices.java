// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.v2;

import gatun.grpc.message.ControlMethods;
import gatun.grpc.message.InPlaceMarshaller;
import gatun.grpc.message.InPlaceMethods;
import gatun.grpc.message.InferenceCall;
import gatun.grpc.message.InferenceStream;
import gatun.grpc.message.RawAlignment;
import gatun.grpc.message.RawMessage;
import gatun.protocol.inference.GRPCInferenceServiceGrpc;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.server.InferenceServer;
import io.grpc.ServerServiceDefinition;
import java.util.List;

/** Puts together the v2 service, each method with its handler. */
public final class InferenceServices {
    private InferenceServices() {}

    /**
     * The service {@code inference.GRPCInferenceService} of one server.
     *
     * @param clientSharedMemory whether clients may register shared memory
     * @param forwarding which metadata becomes parameters of inference requests
     */
    public static ServerServiceDefinition of(
            InferenceServer server, boolean clientSharedMemory, HeaderForwarding forwarding) {
        InferRequests requests = new InferRequests(server, forwarding);
        InferDecoder decoder = new InferDecoder(server.limits(), server.heap());
        InPlaceMarshaller<InferMessage> marshaller = new InPlaceMarshaller<>(
                bytes -> decoder.decode(bytes, RawMessage.NOTHING),
                start -> RawAlignment.landingOffset(start, InferDecoder.RAW_INPUT_CONTENTS));
        return InPlaceMethods.replace(
                ControlMethods.limit(new ControlService(server, clientSharedMemory).bindService(), server),
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
    }
}
