// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.grpc.calls.CallServices.CallLocation;
import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.message.InferenceCall;
import gatun.grpc.message.InferenceCall.CallTrace;
import gatun.grpc.message.RawMessage.RawAlignment;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.protocol.ClientRegions;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.RequestedOutput;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.access.PeerLocation;
import gatun.runtime.server.InferenceService;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.spi.ParameterValue;
import gatun.v2.grpc.InferMessage.Contents;
import gatun.v2.grpc.InferMessage.Contents.ContentsReader;
import io.grpc.Metadata;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Makes inference requests of messages by the protocol's rules; the runtime checks the rest. Safe for any thread. */
public final class InferRequests implements InferenceCall.Exchange<InferMessage> {
    private static final Origin CALL = new Origin(1, "v2", "grpc");
    private static final Origin STREAM = new Origin(2, "v2", "grpc_stream");

    private final InferenceService server;
    private final ClientRegions regions;
    private final HeaderForwarding forwarding;

    InferRequests(InferenceService server, ClientRegions regions, HeaderForwarding forwarding) {
        this.server = server;
        this.regions = regions;
        this.forwarding = forwarding;
    }

    @Override
    public InferenceRequest request(InferMessage message, Metadata headers) {
        return request(message, headers, CallLocation.current(), false);
    }

    @Override
    public OutboundMessage answer(InferMessage message, InferenceResponse response) {
        return InferEncoder.encode(response);
    }

    /**
     * The request that a message, whose memory it takes over, asks for; the caller owns it and ends its trace when it
     * is answered. {@code streaming} if a model may give several responses. Throws {@link GatunException} in the
     * protocol's words for the first error; nothing is held then, and the trace has ended.
     */
    InferenceRequest request(InferMessage message, Metadata headers, PeerLocation client, boolean streaming) {
        try (message) {
            ModelVersion model = server.model(message.modelName, message.modelVersion);
            if (!streaming && model.decoupled()) {
                throw new GatunException(
                        ErrorCode.UNSUPPORTED,
                        "ModelInfer RPC doesn't support models with decoupled transaction policy");
            }
            Optional<RequestTrace> trace = CallTrace.begin(server, model, headers);
            InferenceRequest request = new InferenceRequest(model);
            request.anyVersion(message.modelVersion.isEmpty());
            try {
                request.origin(streaming ? STREAM : CALL);
                request.id(message.id);
                RequestParameters.apply(message, request);
                if (!forwarding.isNone()) {
                    forward(headers, request);
                }
                addInputs(message, client, request);
                addOutputs(message, client, request);
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

    private void forward(Metadata headers, InferenceRequest request) {
        for (String name : headers.keys()) {
            if (!name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
                String value = headers.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
                forwarding.forward(name, value == null ? "" : value, request);
            }
        }
    }

    private void addInputs(InferMessage message, PeerLocation client, InferenceRequest request) {
        BufferPool pool = server.buffers();
        RawAlignment raw = new RawAlignment(message.bytes(), pool);
        int rawIndex = 0;
        for (int i = 0; i < message.inputs.size(); i++) {
            InferMessage.Input input = message.inputs.get(i);
            TensorSpec spec = input.spec();
            Optional<RegionWindow> window = RegionWindow.of(input.parameters(), input.name());
            if (window.isPresent()) {
                if (input.contents().isPresent()) {
                    throw GatunException.invalidArgument(
                            "unexpected 'content' provided when using shared memory for input tensor '" + input.name()
                                    + "' for model '" + message.modelName + "'");
                }
                RegionLease lease =
                        borrow(client, window.get(), RegionRegistry.Access.forInput(input.datatype()), request);
                request.addInput(Tensor.inRegion(spec, lease));
            } else if (input.contents().isPresent()) {
                request.addInput(new Tensor(spec, typed(message, input, pool, request)));
            } else if (rawIndex < message.rawCount()) {
                int start = message.rawStart(rawIndex);
                int length = message.rawLength(rawIndex);
                request.addInput(new Tensor(spec, raw.aligned(start, length, input.datatype(), request)));
                rawIndex++;
            } else {
                throw GatunException.invalidArgument("unable to find data for input tensor '" + input.name()
                        + "' for model '" + message.modelName + "' in request.");
            }
        }
    }

    private RegionLease borrow(
            PeerLocation client, RegionWindow window, RegionRegistry.Access access, InferenceRequest request) {
        RegionLease lease = regions.borrow(client, window.region(), window.offset(), window.byteSize(), access);
        request.hold(lease);
        return lease;
    }

    private static MemorySegment typed(
            InferMessage message, InferMessage.Input input, BufferPool pool, InferenceRequest request) {
        if (message.rawCount() > 0) {
            throw GatunException.invalidArgument(
                    "contents field must not be specified when using raw_input_contents for '" + input.name()
                            + "' for model '" + message.modelName + "'");
        }
        int field = filledField(message, input);
        if (field == 0) {
            return MemorySegment.NULL;
        }
        Buffer buffer = pool.take(ContentsReader.byteSize(input.contents(), field, input.datatype()));
        request.hold(buffer);
        ContentsReader.write(message.bytes(), input.contents(), field, input.datatype(), buffer.segment());
        return buffer.segment();
    }

    /** The one field of the contents that has elements; 0 when none has. */
    private static int filledField(InferMessage message, InferMessage.Input input) {
        int filled = 0;
        for (int field = 1; field <= Contents.LAST_FIELD; field++) {
            if (input.contents().elements(field) == 0) {
                continue;
            }
            String subject = "unexpected explicit tensor data for input tensor '" + input.name() + "' for model '"
                    + message.modelName + "' of type '" + Contents.typeOf(field).wireName() + "', ";
            if (!Contents.fits(field, input.datatype())) {
                throw GatunException.invalidArgument(
                        subject + "expected datatype '" + input.datatype().wireName() + "'");
            }
            if (filled > 0) {
                throw GatunException.invalidArgument(subject + "binary data was already supplied.");
            }
            filled = field;
        }
        return filled;
    }

    private void addOutputs(InferMessage message, PeerLocation client, InferenceRequest request) {
        for (int i = 0; i < message.outputs.size(); i++) {
            InferMessage.Output output = message.outputs.get(i);
            if (output.parameters.isEmpty()) {
                request.addOutput(RequestedOutput.of(output.name));
                continue;
            }
            Optional<RegionWindow> window = RegionWindow.of(output.parameters, output.name);
            int classification = classification(output);
            if (window.isPresent() && classification > 0) {
                throw GatunException.invalidArgument(
                        "output can't set both 'shared_memory_region' and 'classification'");
            }
            Optional<RegionLease> destination =
                    window.map(region -> borrow(client, region, RegionRegistry.Access.WRITE, request));
            request.addOutput(new RequestedOutput(output.name, destination, classification));
        }
    }

    private static int classification(InferMessage.Output output) {
        for (InferMessage.Parameter parameter : output.parameters) {
            if (parameter.name().equals("classification")) {
                if (!(parameter.value().orElse(null) instanceof ParameterValue.Int64 count)) {
                    throw GatunException.invalidArgument(
                            "invalid value type for 'classification' parameter, expected int64_param");
                }
                if (count.value() <= 0) {
                    throw GatunException.invalidArgument("invalid value for 'classification' parameter, expected >= 0");
                }
                return (int) Math.min(count.value(), Integer.MAX_VALUE);
            }
        }
        return 0;
    }

    /** The shared memory that a tensor's parameters name; {@code offset} and {@code byteSize} are unsigned. */
    record RegionWindow(String region, long offset, long byteSize) {
        private static final String REGION = "shared_memory_region";
        private static final String OFFSET = "shared_memory_offset";
        private static final String BYTE_SIZE = "shared_memory_byte_size";

        /** The window that {@code parameters} name, or none. Throws GatunException INVALID_ARGUMENT if malformed. */
        static Optional<RegionWindow> of(List<InferMessage.Parameter> parameters, String tensor) {
            if (parameters.isEmpty()) {
                return Optional.empty();
            }
            Optional<InferMessage.Parameter> region = find(parameters, REGION);
            Optional<InferMessage.Parameter> offset = find(parameters, OFFSET);
            Optional<InferMessage.Parameter> byteSize = find(parameters, BYTE_SIZE);
            String name = "";
            if (region.isPresent()) {
                if (!(region.get().value().orElse(null) instanceof ParameterValue.Text text)) {
                    throw wrongType(REGION, tensor, "string_param.");
                }
                name = text.value();
            }
            long start = offset.isPresent() ? number(offset.get(), tensor) : 0;
            long size = byteSize.isPresent() ? number(byteSize.get(), tensor) : 0;
            if (region.isEmpty()) {
                requireAbsent(offset, tensor);
                requireAbsent(byteSize, tensor);
                return Optional.empty();
            }
            if (byteSize.isEmpty()) {
                throw GatunException.invalidArgument("'" + BYTE_SIZE + "' must be specified along with '" + REGION
                        + "' parameter for tensor '" + tensor + "'");
            }
            return Optional.of(new RegionWindow(name, start, size));
        }

        private static Optional<InferMessage.Parameter> find(List<InferMessage.Parameter> parameters, String name) {
            for (InferMessage.Parameter parameter : parameters) {
                if (parameter.name().equals(name)) {
                    return Optional.of(parameter);
                }
            }
            return Optional.empty();
        }

        private static long number(InferMessage.Parameter parameter, String tensor) {
            if (!(parameter.value().orElse(null) instanceof ParameterValue.Int64 number)) {
                throw wrongType(parameter.name(), tensor, "int64_param.");
            }
            return number.value();
        }

        private static void requireAbsent(Optional<InferMessage.Parameter> parameter, String tensor) {
            if (parameter.isPresent()) {
                throw GatunException.invalidArgument("'" + parameter.get().name() + "' can not be specified without '"
                        + REGION + "' parameter for tensor '" + tensor + "'");
            }
        }

        private static GatunException wrongType(String parameter, String tensor, String expected) {
            return GatunException.invalidArgument("invalid value type for '" + parameter + "' parameter for tensor '"
                    + tensor + "', expected " + expected);
        }
    }

    /** The parameters of a whole request: what the protocol gives a meaning, and the rest, which is the backend's. */
    static final class RequestParameters {
        private static final String RESERVED_PREFIX = "triton_";
        private static final String EMPTY_FINAL = "triton_enable_empty_final_response";

        private RequestParameters() {}

        /** Whether the client wants an empty last response of a decoupled model. Parameters are checked already. */
        static boolean wantsEmptyFinal(InferMessage message) {
            for (InferMessage.Parameter parameter : message.parameters) {
                if (parameter.name().equals(EMPTY_FINAL)) {
                    return parameter.value().orElse(null) instanceof ParameterValue.Bool wanted && wanted.value();
                }
            }
            return false;
        }

        /** Puts a message's parameters into a request. Throws {@link GatunException} INVALID_ARGUMENT if wrong. */
        static void apply(InferMessage message, InferenceRequest request) {
            for (InferMessage.Parameter parameter : message.parameters) {
                apply(parameter.name(), parameter.value(), request);
            }
        }

        private static void apply(String name, Optional<ParameterValue> given, InferenceRequest request) {
            ParameterValue value = given.orElse(null);
            switch (name) {
                case "sequence_id" -> {
                    if (value instanceof ParameterValue.Int64 number) {
                        request.correlationId(number.value());
                    } else if (value instanceof ParameterValue.Text text) {
                        request.correlationId(text.value());
                    } else {
                        throw wrongType(name, "int64_param or string_param.");
                    }
                }
                case "sequence_start" -> request.sequenceStart(flag(name, value));
                case "sequence_end" -> request.sequenceEnd(flag(name, value));
                case EMPTY_FINAL -> flag(name, value);
                case "priority" -> request.priority(priority(value));
                case "timeout" -> {
                    if (!(value instanceof ParameterValue.Int64 timeout)) {
                        throw wrongType(name, "int64_param.");
                    }
                    request.timeoutMicros(Math.max(0, timeout.value()));
                }
                default -> custom(name, value, request);
            }
        }

        private static boolean flag(String name, @Nullable ParameterValue value) {
            if (!(value instanceof ParameterValue.Bool flag)) {
                throw wrongType(name, "bool_param.");
            }
            return flag.value();
        }

        private static long priority(@Nullable ParameterValue value) {
            if (value instanceof ParameterValue.Uint64 priority) {
                return priority.value();
            }
            if (!(value instanceof ParameterValue.Int64 priority)) {
                throw wrongType("priority", "int64_param or uint64_param.");
            }
            if (priority.value() < 0) {
                throw GatunException.invalidArgument("invalid value for 'priority', expected value >= 0.");
            }
            return priority.value();
        }

        private static void custom(String name, @Nullable ParameterValue value, InferenceRequest request) {
            if (name.startsWith(RESERVED_PREFIX)) {
                throw GatunException.invalidArgument(
                        "parameter keys starting with 'triton_' are reserved for Triton usage. Only the following keys"
                                + " starting"
                                + " with 'triton_' are allowed: triton_enable_empty_final_response");
            }
            if (value == null || value instanceof ParameterValue.Uint64) {
                throw wrongType(name, "int64_param, bool_param, or string_param.");
            }
            request.parameter(name, value);
        }

        private static GatunException wrongType(String name, String expected) {
            return GatunException.invalidArgument(
                    "invalid value type for '" + name + "' parameter, expected " + expected);
        }
    }
}
