package gatun.grpc.v2;

import gatun.grpc.connection.OutboundMessage;
import gatun.protocol.inference.GRPCInferenceServiceGrpc;
import gatun.runtime.InferenceServer;
import gatun.runtime.access.HeaderForwarding;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Puts together the v2 service, each method with its handler. */
public final class InferenceServices {
    /** The methods that are not {@link ControlService}'s. */
    private static final Set<String> INFERENCE = Set.of("ModelInfer", "ModelStreamInfer");

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
                (call, headers) -> InferCall.begin(call, headers, server, requests)));
        methods.add(method(
                GRPCInferenceServiceGrpc.getModelStreamInferMethod(),
                marshaller,
                (call, headers) -> InferStream.begin(call, headers, server, requests)));
        return define(methods);
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
