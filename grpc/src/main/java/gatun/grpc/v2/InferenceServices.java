package gatun.grpc.v2;

import gatun.grpc.connection.OutboundMessage;
import gatun.protocol.inference.GRPCInferenceServiceGrpc;
import gatun.runtime.InferenceServer;
import gatun.runtime.access.HeaderForwarding;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Puts together the v2 service, each method with its handler. */
public final class InferenceServices {
    /** The methods that are not {@link ControlService}'s. */
    private static final Set<String> INFERENCE = Set.of("ModelInfer", "ModelStreamInfer");

    private static final Status EXITING =
            Status.UNAVAILABLE.withDescription("GRPC server is shutting down and has stopped accepting new requests.");

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
        InferRequestMarshaller marshaller = new InferRequestMarshaller();
        List<ServerMethodDefinition<?, ?>> methods = new ArrayList<>();
        for (ServerMethodDefinition<?, ?> method :
                new ControlService(server, clientSharedMemory).bindService().getMethods()) {
            if (!INFERENCE.contains(method.getMethodDescriptor().getBareMethodName())) {
                methods.add(method);
            }
        }
        methods.add(method(
                GRPCInferenceServiceGrpc.getModelInferMethod(),
                marshaller,
                (call, headers) -> server.exiting() ? refuse(call) : InferCall.begin(call, headers, server, requests)));
        methods.add(method(
                GRPCInferenceServiceGrpc.getModelStreamInferMethod(),
                marshaller,
                (call, headers) ->
                        server.exiting() ? refuse(call) : InferStream.begin(call, headers, server, requests)));
        return define(methods);
    }

    /** Ends a call that begins while the server stops. */
    private static ServerCall.Listener<InferMessage> refuse(ServerCall<InferMessage, OutboundMessage> call) {
        call.close(EXITING, new Metadata());
        return new ServerCall.Listener<>() {
            @Override
            public void onMessage(InferMessage message) {
                message.close();
            }
        };
    }

    private static ServerMethodDefinition<InferMessage, OutboundMessage> method(
            MethodDescriptor<?, ?> generated,
            InferRequestMarshaller marshaller,
            ServerCallHandler<InferMessage, OutboundMessage> handler) {
        MethodDescriptor<InferMessage, OutboundMessage> descriptor =
                generated.toBuilder(marshaller, new EncodedMarshaller()).build();
        return ServerMethodDefinition.create(descriptor, handler);
    }

    private static ServerServiceDefinition define(List<ServerMethodDefinition<?, ?>> methods) {
        ServiceDescriptor generated = GRPCInferenceServiceGrpc.getServiceDescriptor();
        ServiceDescriptor.Builder descriptor =
                ServiceDescriptor.newBuilder(generated.getName()).setSchemaDescriptor(generated.getSchemaDescriptor());
        methods.forEach(method -> descriptor.addMethod(method.getMethodDescriptor()));
        ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(descriptor.build());
        methods.forEach(service::addMethod);
        return service.build();
    }
}
