// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * One inference to be made, any number of times and by any client: the part before the tensors' bytes is encoded once.
 * The bytes are read anew by each call, so that a caller may write other values in between. Immutable, but for the
 * memory that it borrows, and safe for any thread.
 */
public final class InferRequest {
    private final String model;
    private final String version;
    private final String id;
    private final List<InferInput> inputs;
    private final List<InferOutput> outputs;
    private final Map<String, Object> parameters;
    private final boolean sequence;
    private final Optional<Duration> deadline;
    private final AtomicReference<Object> encoded = new AtomicReference<>();

    private InferRequest(Builder builder) {
        model = builder.model;
        version = builder.version;
        id = builder.id;
        inputs = List.copyOf(builder.inputs);
        outputs = List.copyOf(builder.outputs);
        parameters = Map.copyOf(builder.parameters);
        sequence = builder.sequence;
        deadline = builder.deadline;
    }

    /** A request to {@code model} for all its outputs. */
    public static InferRequest of(String model, Tensor... inputs) {
        Builder builder = to(model);
        for (Tensor input : inputs) {
            builder.input(input);
        }
        return builder.build();
    }

    /** Begins a request to {@code model}. */
    public static Builder to(String model) {
        return new Builder(model);
    }

    /** The model that is asked. */
    public String model() {
        return model;
    }

    /** The version that is asked; empty for the server's choice. */
    public String version() {
        return version;
    }

    /** The request's id; empty for none. */
    public String id() {
        return id;
    }

    /** The inputs in their order. */
    public List<InferInput> inputs() {
        return inputs;
    }

    /** The wanted outputs; empty for all, sent. */
    public List<InferOutput> outputs() {
        return outputs;
    }

    /** The request's and sequence's parameters: {@link Boolean}, {@link Long}, {@link Double} or {@link String}. */
    public Map<String, Object> parameters() {
        return parameters;
    }

    /** Whether it belongs to a sequence, so that making it twice is not the same as making it once. */
    public boolean isOfSequence() {
        return sequence;
    }

    /** How long a call may take; empty for the client's own. */
    public Optional<Duration> deadline() {
        return deadline;
    }

    /**
     * For transports: what they make of a request once. Remembers one such value, the last.
     *
     * @param kind the wanted type; another kind takes the place of the one before
     */
    public <T> T encoded(Class<T> kind, Function<InferRequest, T> encode) {
        return encoded(kind, any -> true, encode);
    }

    /** As {@link #encoded(Class, Function)}, where not every value of that kind will do. */
    public <T> T encoded(Class<T> kind, Predicate<T> fits, Function<InferRequest, T> encode) {
        // The remembered value is immutable and was published with release semantics, or is seen as absent.
        Object known = encoded.getAcquire();
        if (kind.isInstance(known)) {
            T made = kind.cast(known);
            if (fits.test(made)) {
                return made;
            }
        }
        T made = encode.apply(this);
        encoded.setRelease(made);
        return made;
    }

    /** A request that is put together. Used by one thread. */
    public static final class Builder {
        private final String model;
        private final List<InferInput> inputs = new ArrayList<>(4);
        private final List<InferOutput> outputs = new ArrayList<>(4);
        private final Map<String, Object> parameters = new LinkedHashMap<>();
        private String version = "";
        private String id = "";
        private boolean sequence;
        private Optional<Duration> deadline = Optional.empty();

        private Builder(String model) {
            if (model.isEmpty()) {
                throw new IllegalArgumentException("the model's name is empty: expected the name of a model");
            }
            this.model = model;
        }

        /** Asks that version and no other. */
        public Builder version(String newVersion) {
            version = newVersion;
            return this;
        }

        /** Gives the request a name, which comes back with the response. */
        public Builder id(String newId) {
            id = newId;
            return this;
        }

        /** Adds an input; its memory, on the heap or not, is read by each call. */
        public Builder input(Tensor tensor) {
            inputs.add(new InferInput.Sent(ArrayTensors.checked(tensor.spec(), tensor.bytes())));
            return this;
        }

        /** Adds an input over memory of the caller. */
        public Builder input(String name, Datatype datatype, MemorySegment bytes, long... shape) {
            return input(ArrayTensors.of(name, datatype, bytes, shape));
        }

        /** Adds an FP32 input. */
        public Builder input(String name, float[] values, long... shape) {
            return input(ArrayTensors.of(name, values, shape));
        }

        /** Adds an FP32, FP16 or BF16 input; see {@link ArrayTensors#of(String, Datatype, float[], long...)}. */
        public Builder input(String name, Datatype datatype, float[] values, long... shape) {
            return input(ArrayTensors.of(name, datatype, values, shape));
        }

        /** Adds an INT32 input. */
        public Builder input(String name, int[] values, long... shape) {
            return input(ArrayTensors.of(name, values, shape));
        }

        /** Adds an INT64 input. */
        public Builder input(String name, long[] values, long... shape) {
            return input(ArrayTensors.of(name, values, shape));
        }

        /** Adds a BYTES input of texts. */
        public Builder input(String name, String[] values, long... shape) {
            return input(ArrayTensors.of(name, values, shape));
        }

        /** Adds an input that lies in a registered region. */
        public Builder inputInRegion(
                String name, Datatype datatype, Shape shape, String region, long offset, long byteSize) {
            inputs.add(new InferInput.InRegion(new TensorSpec(name, datatype, shape), region, offset, byteSize));
            return this;
        }

        /** Wants an output, sent with the response; without any of these calls all are. */
        public Builder output(String name) {
            outputs.add(new InferOutput.Sent(name));
            return this;
        }

        /** Wants the {@code count} best classes of an output. */
        public Builder classes(String name, int count) {
            if (count < 1) {
                throw new IllegalArgumentException(count + " classes of output '" + name + "': expected at least 1");
            }
            outputs.add(new InferOutput.Classes(name, count));
            return this;
        }

        /** Wants an output in a registered region. */
        public Builder outputInRegion(String name, String region, long offset, long byteSize) {
            outputs.add(new InferOutput.InRegion(name, region, offset, byteSize));
            return this;
        }

        /** Adds a {@link Boolean}, {@link Integer}, {@link Long}, {@link Float}, {@link Double} or {@link String}. */
        public Builder parameter(String name, Object value) {
            Object kept =
                    switch (value) {
                        case Boolean truth -> truth;
                        case Integer number -> number.longValue();
                        case Long number -> number;
                        case Float number -> number.doubleValue();
                        case Double number -> number;
                        case String text -> text;
                        default ->
                            throw new IllegalArgumentException("parameter '" + name + "' is a "
                                    + value.getClass().getName()
                                    + ": expected a boolean, an integer, a floating-point number or a string");
                    };
            parameters.put(name, kept);
            return this;
        }

        /** Puts the request before others: 1 is the highest priority, 0 the model's own. */
        public Builder priority(long priority) {
            return parameter("priority", priority);
        }

        /** How long the request may wait in the server's queue. */
        public Builder queueTimeout(Duration timeout) {
            return parameter("timeout", timeout.toNanos() / 1000);
        }

        /** Makes the request a part of sequence {@code number}. {@link InferSequence} does this for its own. */
        public Builder sequence(long number, boolean start, boolean end) {
            sequence = true;
            return parameter("sequence_id", number)
                    .parameter("sequence_start", start)
                    .parameter("sequence_end", end);
        }

        /** How long a call may take, its retries included. */
        public Builder deadline(Duration newDeadline) {
            if (!newDeadline.isPositive()) {
                throw new IllegalArgumentException("a deadline of " + newDeadline + ": expected more than nothing");
            }
            deadline = Optional.of(newDeadline);
            return this;
        }

        /** The request. */
        public InferRequest build() {
            return new InferRequest(this);
        }
    }
}
