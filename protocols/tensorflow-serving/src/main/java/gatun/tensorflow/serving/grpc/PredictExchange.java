// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.message.InferenceCall;
import gatun.grpc.message.InferenceCall.CallTrace;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.RequestedOutput;
import gatun.runtime.server.ServerResources;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.tensorflow.serving.DataTypes;
import gatun.tensorflow.serving.OptionalInputs;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.ServingMetrics.Api;
import gatun.tensorflow.serving.ServingMetrics.Entrypoint;
import gatun.wire.tensorflow.DataType;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Predict: messages to inference requests, with TensorFlow Serving's order of checks, and responses back. */
final class PredictExchange implements InferenceCall.Exchange<PredictMessage> {
    /** The origin of all requests over gRPC. */
    static final Origin ORIGIN = new Origin(100, "tensorflow", "grpc");

    private final ServerResources server;
    private final Servables servables;
    private final PredictEncoder encoder;
    private final @Nullable ServingMetrics metrics;

    /** @param metrics where requests are counted; null for nowhere */
    PredictExchange(
            ServerResources server, Servables servables, PredictEncoder encoder, @Nullable ServingMetrics metrics) {
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
                request.origin(ORIGIN);
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

    /** The message's signature. Throws FAILED_PRECONDITION for none, INVALID_ARGUMENT for tensors it does not have. */
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

    /** Makes {@code request} ask the same and own the message's memory. Throws INVALID_ARGUMENT for a bad tensor. */
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
            metrics.recordRun(message.servable.name(), Api.PREDICT, System.nanoTime() - message.askedNanos);
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

    /** Whether the names in a PredictRequest are those of a signature. The first thing that is wrong decides. */
    static final class SignatureCheck {
        private SignatureCheck() {}

        /** @throws GatunException INVALID_ARGUMENT when an input is missing or none of the signature's */
        static void requireInputs(PredictMessage message, EntryPoint entryPoint, ModelVersion model) {
            int sent = message.inputs.size();
            List<EntryTensor> expected = entryPoint.inputs();
            int known = 0;
            for (int i = 0; i < expected.size(); i++) {
                known += sends(message, expected.get(i).spec().name()) ? 1 : 0;
            }
            if (known == sent && sent == expected.size()) {
                return;
            }
            Set<String> optional = OptionalInputs.of(model, expected);
            if (sent > expected.size() || (sent < expected.size() && optional.isEmpty())) {
                throw wrongCount(message, expected);
            }
            for (EntryTensor input : expected) {
                String name = input.spec().name();
                if (!sends(message, name) && !optional.contains(name)) {
                    throw GatunException.invalidArgument("Signature input alias: " + name + "(feed name: "
                            + input.engineName()
                            + ") not found in request and no default value provided. Inputs expected"
                            + " to be in the request {" + String.join(",", sent(message))
                            + "}, or default input alias set: " + String.join(",", optional));
                }
            }
            if (known < sent) {
                Set<String> used = sent(message);
                used.retainAll(names(expected));
                throw GatunException.invalidArgument("Inputs contains invalid name. Used request inputs: "
                        + String.join(",", used) + ", request input: " + String.join(",", sent(message)));
            }
        }

        /** @throws GatunException INVALID_ARGUMENT, in TensorFlow's words, when an input is of another type */
        static void requireTypes(PredictMessage message, EntryPoint entryPoint) {
            List<EntryTensor> expected = entryPoint.inputs();
            for (int i = 0; i < expected.size(); i++) {
                TensorSpec spec = expected.get(i).spec();
                int type = DataTypes.of(spec.datatype()).getNumber();
                for (int j = 0; j < message.inputs.size(); j++) {
                    PredictMessage.TensorField input = message.inputs.get(j);
                    if (input.dtype != type && input.name.equals(spec.name())) {
                        throw GatunException.invalidArgument("Expects arg[" + i + "] to be "
                                + DataTypes.shortName(spec.datatype()) + " but "
                                + DataTypes.shortName(DataType.forNumber(input.dtype)) + " is provided; arg[" + i
                                + "] is the input '" + spec.name() + "'");
                    }
                }
            }
        }

        /** @throws GatunException INVALID_ARGUMENT when an output is none of the signature's, or wanted twice */
        static void requireOutputs(List<String> filter, EntryPoint entryPoint) {
            for (int i = 0; i < filter.size(); i++) {
                String wanted = filter.get(i);
                if (!has(entryPoint.outputs(), wanted)) {
                    throw GatunException.invalidArgument("output tensor alias not found in signature: " + wanted
                            + " Outputs expected to be in the set {" + String.join(",", names(entryPoint.outputs()))
                            + "}.");
                }
                if (filter.indexOf(wanted) < i) {
                    throw GatunException.invalidArgument("duplicate output tensor alias: " + wanted);
                }
            }
        }

        static boolean has(List<EntryTensor> tensors, String name) {
            for (int i = 0; i < tensors.size(); i++) {
                if (tensors.get(i).spec().name().equals(name)) {
                    return true;
                }
            }
            return false;
        }

        private static boolean sends(PredictMessage message, String name) {
            for (int i = 0; i < message.inputs.size(); i++) {
                if (message.inputs.get(i).name.equals(name)) {
                    return true;
                }
            }
            return false;
        }

        private static Set<String> sent(PredictMessage message) {
            return message.inputs.stream().map(input -> input.name).collect(Collectors.toCollection(TreeSet::new));
        }

        private static Set<String> names(List<EntryTensor> tensors) {
            return tensors.stream().map(tensor -> tensor.spec().name()).collect(Collectors.toCollection(TreeSet::new));
        }

        private static GatunException wrongCount(PredictMessage message, List<EntryTensor> expected) {
            Set<String> sent = sent(message);
            Set<String> names = names(expected);
            Set<String> extra = new TreeSet<>(sent);
            extra.removeAll(names);
            Set<String> missing = new TreeSet<>(names);
            missing.removeAll(sent);
            return GatunException.invalidArgument("input size does not match signature: " + sent.size() + "!="
                    + names.size() + " len({" + String.join(",", sent) + "}) != len({" + String.join(",", names)
                    + "}). Sent extra: {" + String.join(",", extra) + "}. Missing but required: {"
                    + String.join(",", missing) + "}.");
        }
    }
}
