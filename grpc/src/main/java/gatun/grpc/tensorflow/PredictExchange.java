package gatun.grpc.tensorflow;

import gatun.grpc.connection.OutboundMessage;
import gatun.grpc.message.InferenceCall;
import gatun.memory.GatunException;
import gatun.runtime.EntryPoint;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceServer;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.RequestedOutput;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceStage;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.Servables;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.Optional;

/** Predict: makes inference requests of messages, in the order of TensorFlow Serving's checks, and messages of answers. */
final class PredictExchange implements InferenceCall.Exchange<PredictMessage> {
    private static final Metadata.Key<String> TRACEPARENT =
            Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

    private final InferenceServer server;
    private final Servables servables;
    private final PredictEncoder encoder;

    PredictExchange(InferenceServer server, Servables servables, PredictEncoder encoder) {
        this.server = server;
        this.servables = servables;
        this.encoder = encoder;
    }

    @Override
    public InferenceRequest request(PredictMessage message, Metadata headers) {
        try (message) {
            if (!message.hasServable) {
                throw GatunException.invalidArgument("Missing ModelSpec");
            }
            Servable servable = message.servable;
            ModelVersion model = servables.findSingleAnswering(servable);
            EntryPoint entryPoint = model.entryPoints().get(servable.entryPoint());
            if (entryPoint == null) {
                throw Status.FAILED_PRECONDITION
                        .withDescription("Serving signature key \"" + servable.entryPoint() + "\" not found.")
                        .asRuntimeException();
            }
            SignatureCheck.requireInputs(message, entryPoint, model);
            SignatureCheck.requireOutputs(message.outputFilter, entryPoint);
            Optional<RequestTrace> trace = server.tracing()
                    .begin(
                            model.name(),
                            model.version(),
                            headers,
                            metadata -> Optional.ofNullable(metadata.get(TRACEPARENT)));
            trace.ifPresent(present -> present.reached(TraceStage.GRPC_WAITREAD_START));
            InferenceRequest request = new InferenceRequest(model);
            try {
                request.anyVersion(servable.isAnyVersion());
                request.origin(Origin.TENSORFLOW_GRPC);
                request.entryPoint(entryPoint.name());
                TensorReader tensors = new TensorReader(message.bytes(), server.buffers());
                for (PredictMessage.TensorField input : message.inputs) {
                    request.addInput(tensors.read(input, request));
                }
                for (String output : message.outputFilter) {
                    request.addOutput(RequestedOutput.of(output));
                }
                request.hold(message.takeOwnership());
                trace.ifPresent(present -> present.reached(TraceStage.GRPC_WAITREAD_END));
                trace.ifPresent(request::trace);
                return request;
            } catch (Throwable t) {
                request.close();
                trace.ifPresent(RequestTrace::end);
                throw t;
            }
        }
    }

    @Override
    public OutboundMessage answer(PredictMessage message, InferenceResponse response) {
        return encoder.encode(response, message.servable.entryPoint());
    }

    @Override
    public Status failure(GatunException failure) {
        return Statuses.of(failure);
    }
}
