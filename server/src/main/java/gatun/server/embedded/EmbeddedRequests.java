// SPDX-License-Identifier: Apache-2.0
package gatun.server.embedded;

import gatun.bindings.NativeMemory;
import gatun.client.InferInput;
import gatun.client.InferOutput;
import gatun.client.InferRequest;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.RequestedOutput;
import gatun.runtime.server.InferenceService;
import gatun.spi.ParameterValue;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Turns a client's requests into the runtime's. Safe for any thread. */
final class EmbeddedRequests {
    private final InferenceService server;
    private final RequestMemory memory;

    EmbeddedRequests(InferenceService server) {
        this.server = server;
        this.memory = new RequestMemory(server.buffers());
    }

    /** The caller owns it. {@code lent} inputs keep their memory until the answer. Throws {@link GatunException}. */
    InferenceRequest request(InferRequest asked, boolean lent) {
        InferenceRequest request = new InferenceRequest(server.model(asked.model(), asked.version()));
        try {
            request.anyVersion(asked.version().isEmpty());
            request.id(asked.id());
            List<InferInput> inputs = asked.inputs();
            for (int i = 0; i < inputs.size(); i++) {
                addInput(request, inputs.get(i), lent);
            }
            List<InferOutput> outputs = asked.outputs();
            for (int i = 0; i < outputs.size(); i++) {
                addOutput(request, outputs.get(i));
            }
            for (Map.Entry<String, Object> parameter : asked.parameters().entrySet()) {
                apply(request, parameter.getKey(), parameter.getValue());
            }
            return request;
        } catch (Throwable t) {
            request.close();
            throw t;
        }
    }

    private void addInput(InferenceRequest request, InferInput input, boolean lent) {
        switch (input) {
            case InferInput.Sent sent -> memory.addInput(request, sent.tensor(), lent);
            case InferInput.InRegion there -> {
                RegionLease lease = server.regions()
                        .borrow(
                                there.region(),
                                there.offset(),
                                there.byteSize(),
                                RegionRegistry.Access.forInput(there.spec().datatype()));
                request.hold(lease);
                request.addInput(Tensor.inRegion(there.spec(), lease));
            }
        }
    }

    private void addOutput(InferenceRequest request, InferOutput output) {
        switch (output) {
            case InferOutput.Sent sent -> request.addOutput(RequestedOutput.of(sent.name()));
            case InferOutput.Classes classes ->
                request.addOutput(new RequestedOutput(classes.name(), Optional.empty(), classes.count()));
            case InferOutput.InRegion there -> {
                RegionLease lease = server.regions()
                        .borrow(there.region(), there.offset(), there.byteSize(), RegionRegistry.Access.WRITE);
                request.hold(lease);
                request.addOutput(new RequestedOutput(there.name(), Optional.of(lease), 0));
            }
        }
    }

    private static void apply(InferenceRequest request, String name, Object value) {
        switch (name) {
            case "sequence_id" -> {
                if (value instanceof String text) {
                    request.correlationId(text);
                } else {
                    request.correlationId(number(name, value));
                }
            }
            case "sequence_start" -> request.sequenceStart(flag(name, value));
            case "sequence_end" -> request.sequenceEnd(flag(name, value));
            case "priority" -> request.priority(number(name, value));
            case "timeout" -> request.timeoutMicros(number(name, value));
            default -> request.parameter(name, parameter(value));
        }
    }

    private static ParameterValue parameter(Object value) {
        return switch (value) {
            case Boolean truth -> new ParameterValue.Bool(truth);
            case Long number -> new ParameterValue.Int64(number);
            case Double number -> new ParameterValue.Fp64(number);
            default -> new ParameterValue.Text(value.toString());
        };
    }

    private static boolean flag(String name, Object value) {
        if (value instanceof Boolean flag) {
            return flag;
        }
        throw wrong(name, value, "a boolean");
    }

    private static long number(String name, Object value) {
        if (value instanceof Long number && number >= 0) {
            return number;
        }
        throw wrong(name, value, "an integer of at least 0");
    }

    private static GatunException wrong(String name, Object value, String expected) {
        return GatunException.invalidArgument("parameter '" + name + "' is " + value + ": expected " + expected);
    }

    /**
     * The inputs' memory: the caller's own where engines can use it (native, aligned for the elements), else a copy.
     * Strings are copied, since they are parsed and their owner may change them meanwhile.
     */
    static final class RequestMemory {
        private final BufferPool pool;

        RequestMemory(BufferPool pool) {
            this.pool = pool;
        }

        /** Adds an input, copied unless {@code lent} and usable by engines. Throws {@link IllegalStateException}. */
        void addInput(InferenceRequest request, Tensor input, boolean lent) {
            MemorySegment bytes = input.bytes();
            String what = "the memory of input '" + input.spec().name() + "' of model '"
                    + request.model().name() + "' ";
            if (!bytes.scope().isAlive()) {
                throw new IllegalStateException(what + "was freed: keep its arena open until the call has returned");
            }
            if (!bytes.isAccessibleBy(Thread.currentThread())) {
                throw new IllegalStateException(what
                        + "belongs to another thread: take it from a shared arena, or make the call on its thread");
            }
            Datatype datatype = input.spec().datatype();
            boolean inPlace =
                    lent && bytes.isNative() && datatype.isFixedSize() && bytes.address() % datatype.byteSize() == 0;
            if (inPlace) {
                // A view without an owner: an instance's thread may not touch memory that is confined to the caller's.
                request.addInput(new Tensor(input.spec(), NativeMemory.segment(bytes.address(), bytes.byteSize())));
                return;
            }
            Buffer copy = pool.copyOf(bytes);
            request.hold(copy);
            request.addInput(new Tensor(input.spec(), copy.segment()));
        }
    }
}
