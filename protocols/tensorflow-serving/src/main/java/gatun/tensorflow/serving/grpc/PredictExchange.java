// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.connection.OutboundMessage;
import gatun.grpc.message.CallTrace;
import gatun.grpc.message.InferenceCall;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.RequestedOutput;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceStage;
import gatun.spi.EntryPoint;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.ServingMetrics.Api;
import gatun.tensorflow.serving.ServingMetrics.Entrypoint;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Predict: makes inference requests of messages, in the order of TensorFlow Serving's checks, and messages of
 * responses.
 */
final class PredictExchange implements InferenceCall.Exchange<PredictMessage> {
    private final InferenceServer server;
    private final Servables servables;
    private final PredictEncoder encoder;
    private final @Nullable ServingMetrics metrics;

    /** @param metrics where requests are counted; null for nowhere */
    PredictExchange(
            InferenceServer server, Servables servables, PredictEncoder encoder, @Nullable ServingMetrics metrics) {
        this.server = server;
        this.servables = servables;
        this.encoder = encoder;
        this.metrics = metrics;
    }

    @Override
    public InferenceRequest request(PredictMessage message, Metadata headers) {
        if (metrics == null) {
            return read(message, headers);
        }
        message.arrivedNanos = System.nanoTime();
        InferenceRequest request = read(message, headers);
        message.askedNanos = System.nanoTime();
        return request;
    }

    private InferenceRequest read(PredictMessage message, Metadata headers) {
        try (message) {
            if (!message.hasServable) {
                throw GatunException.invalidArgument("Missing ModelSpec");
            }
            Servable servable = message.servable;
            ModelVersion model = servables.findSingleAnswering(servable);
            EntryPoint entryPoint = signature(message, model);
            Optional<RequestTrace> trace = CallTrace.begin(server, model, headers);
            InferenceRequest request = new InferenceRequest(model);
            try {
                servable.tell(request);
                request.origin(Origin.TENSORFLOW_GRPC);
                fill(request, message, entryPoint, server.buffers());
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

    /**
     * The signature that a message asks for, with names that it has.
     *
     * @throws StatusRuntimeException when {@code model} has no such signature
     * @throws GatunException INVALID_ARGUMENT when the inputs or outputs are not the signature's
     */
    static EntryPoint signature(PredictMessage message, ModelVersion model) {
        String name = message.servable.entryPoint();
        EntryPoint signature = model.entryPoints().get(name);
        if (signature == null) {
            throw Status.FAILED_PRECONDITION
                    .withDescription("Serving signature key \"" + name + "\" not found.")
                    .asRuntimeException();
        }
        SignatureCheck.requireInputs(message, signature, model);
        SignatureCheck.requireOutputs(message.outputFilter, signature);
        return signature;
    }

    /**
     * Makes {@code request} ask for what the message asks for; the request owns the message's memory then.
     *
     * @throws GatunException INVALID_ARGUMENT when a tensor cannot be read
     */
    static void fill(InferenceRequest request, PredictMessage message, EntryPoint signature, BufferPool pool) {
        request.entryPoint(signature.name());
        TensorReader tensors = new TensorReader(message.bytes(), pool);
        for (PredictMessage.TensorField input : message.inputs) {
            request.addInput(tensors.read(input, request));
        }
        SignatureCheck.requireTypes(message, signature);
        for (String output : message.outputFilter) {
            request.addOutput(RequestedOutput.of(output));
        }
        request.hold(message.takeOwnership());
    }

    @Override
    public OutboundMessage answer(PredictMessage message, InferenceResponse response) {
        if (metrics != null) {
            metrics.ran(message.servable.name(), Api.PREDICT, System.nanoTime() - message.askedNanos);
        }
        return encoder.encode(response, message.servable.entryPoint());
    }

    @Override
    public void ended(PredictMessage message, Status status) {
        if (metrics == null) {
            return;
        }
        String model = message.servable.name();
        if (status.isOk()) {
            metrics.answered(model, Api.PREDICT, Entrypoint.GRPC, System.nanoTime() - message.arrivedNanos);
        } else {
            metrics.failed(model, status.getCode().name());
        }
    }

    @Override
    public Status failure(GatunException failure) {
        return Statuses.of(failure);
    }
}
