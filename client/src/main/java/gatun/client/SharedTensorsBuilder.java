// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Says which tensors of a model lie in shared memory, and makes that memory. When no inputs are named, all inputs of
 * the model's metadata are taken, and likewise outputs; then each of their dimensions has to be known, except for the
 * first, which {@link #batch} sets. Used by one thread.
 */
public final class SharedTensorsBuilder {
    /** The alignment of tensors, for vector instructions and cache lines. */
    private static final long ALIGNMENT = 64;

    private final GatunClient client;
    private final String model;
    private final LongFunction<SharedRegion> memory;
    private final List<Room> inputs = new ArrayList<>(4);
    private final List<Room> outputs = new ArrayList<>(4);
    private Consumer<InferRequest.Builder> more = request -> {};
    private String version = "";
    private long batch = 1;

    /** The room for a tensor. An input fills {@code usedBytes} of it at first. */
    private record Room(TensorSpec spec, long byteSize, long usedBytes) {}

    /** {@code memory} creates a region of a size. */
    SharedTensorsBuilder(GatunClient client, String model, LongFunction<SharedRegion> memory) {
        this.client = client;
        this.model = model;
        this.memory = memory;
    }

    /** Asks that version and no other. */
    public SharedTensorsBuilder version(String newVersion) {
        version = newVersion;
        return this;
    }

    /** Sets the size of a variable first dimension of the model, for tensors that are not named here; 1 by default. */
    public SharedTensorsBuilder batch(long newBatch) {
        if (newBatch < 1) {
            throw new IllegalArgumentException("a batch of " + newBatch + ": expected at least 1");
        }
        batch = newBatch;
        return this;
    }

    /** Adds an input of a fixed size. */
    public SharedTensorsBuilder input(String name, Datatype datatype, long... dims) {
        inputs.add(fixed(new TensorSpec(name, datatype, Shape.of(dims)), "inputBytes(name, byteSize, dims…)"));
        return this;
    }

    /**
     * Adds an input of strings, which are empty at first.
     *
     * @param byteSize the room for all of them, 4 bytes for the length of each included
     */
    public SharedTensorsBuilder inputBytes(String name, long byteSize, long... dims) {
        TensorSpec spec = new TensorSpec(name, Datatype.BYTES, Shape.of(dims));
        long count = spec.shape().elementCount();
        if (count < 0 || byteSize / Integer.BYTES < count) {
            throw new IllegalArgumentException("input '" + name + "' BYTES " + spec.shape() + " was given room of "
                    + byteSize + " bytes: expected dimensions of 0 or more, and at least 4 bytes for each string");
        }
        inputs.add(new Room(spec, byteSize, count * Integer.BYTES));
        return this;
    }

    /** Adds an output of a fixed size. */
    public SharedTensorsBuilder output(String name, Datatype datatype, long... dims) {
        outputs.add(fixed(new TensorSpec(name, datatype, Shape.of(dims)), "outputBytes(name, byteSize)"));
        return this;
    }

    /**
     * Adds an output whose shape, and for strings whose size, only a response tells.
     *
     * @param byteSize the room for it; a larger output makes an inference fail
     */
    public SharedTensorsBuilder outputBytes(String name, long byteSize) {
        if (byteSize < 1) {
            throw new IllegalArgumentException(
                    "output '" + name + "' was given room of " + byteSize + " bytes: expected at least 1");
        }
        outputs.add(new Room(new TensorSpec(name, Datatype.INVALID, Shape.of()), byteSize, byteSize));
        return this;
    }

    /** Says more of every request, such as its parameters or its deadline; inputs and outputs are there already. */
    public SharedTensorsBuilder request(Consumer<InferRequest.Builder> newMore) {
        more = newMore;
        return this;
    }

    /**
     * Makes the memory, and tells the server of it. Asks for the model's metadata where inputs or outputs are missing.
     *
     * @throws IllegalArgumentException when a size is not known, or a GPU does not exist
     * @throws ClientException when the server refuses or cannot be asked
     * @throws gatun.memory.tensor.GatunException when the system or the GPU has no room
     */
    public SharedTensors open() {
        if (inputs.isEmpty() || outputs.isEmpty()) {
            takeFromMetadata();
        }
        List<TensorSlot> inputSlots = new ArrayList<>(inputs.size());
        List<TensorSlot> outputSlots = new ArrayList<>(outputs.size());
        long end = place(inputs, inputSlots, 0);
        end = place(outputs, outputSlots, end);
        Consumer<InferRequest.Builder> request = version.isEmpty()
                ? more
                : ((Consumer<InferRequest.Builder>) builder -> builder.version(version)).andThen(more);
        SharedRegion region = memory.apply(end);
        try {
            return SharedTensors.register(client, model, region, inputSlots, outputSlots, request);
        } catch (Throwable t) {
            region.free();
            throw t;
        }
    }

    private void takeFromMetadata() {
        ModelMetadata metadata = client.models().metadata(model, version);
        if (inputs.isEmpty()) {
            for (TensorSpec spec : metadata.inputs()) {
                inputs.add(fixed(withBatch(spec), "input(name, datatype, dims…) or inputBytes(name, byteSize, dims…)"));
            }
        }
        if (outputs.isEmpty()) {
            for (TensorSpec spec : metadata.outputs()) {
                outputs.add(fixed(withBatch(spec), "output(name, datatype, dims…) or outputBytes(name, byteSize)"));
            }
        }
    }

    private TensorSpec withBatch(TensorSpec spec) {
        Shape shape = spec.shape();
        return shape.rank() > 0 && shape.dim(0) == Shape.VARIABLE
                ? new TensorSpec(spec.name(), spec.datatype(), shape.withFirst(batch))
                : spec;
    }

    private Room fixed(TensorSpec spec, String advice) {
        long byteSize = spec.shape().byteSize(spec.datatype());
        if (!spec.datatype().isFixedSize() || !spec.shape().isFixed() || byteSize < 0) {
            throw new IllegalArgumentException("the size of tensor '" + spec.name() + "' " + spec.datatype() + " "
                    + spec.shape() + " of model '" + model + "' is not known: name it with " + advice);
        }
        return new Room(spec, byteSize, byteSize);
    }

    /** Returns where the last one ends. */
    private static long place(List<Room> rooms, List<TensorSlot> slots, long from) {
        long at = from;
        for (Room room : rooms) {
            long offset = Math.addExact(at, ALIGNMENT - 1) & -ALIGNMENT;
            slots.add(new TensorSlot(room.spec(), offset, room.byteSize(), room.usedBytes()));
            // An empty tensor lies somewhere, too: servers refuse an offset at a region's end.
            at = Math.addExact(offset, Math.max(1, room.byteSize()));
        }
        return Math.max(1, at);
    }
}
