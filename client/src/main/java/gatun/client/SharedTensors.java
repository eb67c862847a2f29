// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.regions.SharedMemoryObject;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tensors of a model in memory that this process and a server on the same machine share: write the inputs, infer as
 * often as you like, read the outputs, and nothing is copied in between. Each tensor begins at a multiple of 64 bytes.
 * Owns the memory, and the region under which the server knows it; {@link #close} gives both back, and so does the end
 * of the process.
 *
 * <p>One inference at a time: a call that touches tensors while one runs fails with an {@link IllegalStateException},
 * and so does every use after {@link #close}. Any thread may call, one after the other. After a call that failed by its
 * deadline, or that was cancelled, the server may still write to the outputs.
 *
 * <p>When the server does not know the region any more, because it was started anew, an inference registers it once
 * more and is made again.
 */
public final class SharedTensors implements AutoCloseable {
    private final String model;
    private final RegisteredRegion region;
    private final ExclusiveUse use;
    private final TensorSlot[] inputs;
    private final TensorSlot[] outputs;
    private final RegionInference inference;
    /** Null when an input has another size than when it was made. Guarded by {@link #use}. */
    private @Nullable InferRequest request;
    /** Whether a response came; before that the outputs mean nothing. Guarded by {@link #use}. */
    private boolean answered;

    private SharedTensors(
            GatunClient client,
            String model,
            SharedRegion region,
            List<TensorSlot> inputs,
            List<TensorSlot> outputs,
            Consumer<InferRequest.Builder> more) {
        this.model = model;
        this.region = new RegisteredRegion(client, region);
        this.use = new ExclusiveUse(model, this.region.name());
        this.inputs = inputs.toArray(TensorSlot[]::new);
        this.outputs = outputs.toArray(TensorSlot[]::new);
        this.inference = new RegionInference(client, model, this.region, this.inputs, this.outputs, more);
    }

    /** Tensors in sealed, unnamed memory, for a server of the same user on this machine. Needs no guard. */
    public static SharedTensorsBuilder sealed(GatunClient client, String model) {
        return new SharedTensorsBuilder(
                client, model, byteSize -> new SharedRegion.OfSystem(SharedMemoryObject.sealed(byteSize)));
    }

    /** Tensors in named POSIX shared memory, for any server on this machine with the extension. */
    public static SharedTensorsBuilder posix(GatunClient client, String model) {
        return new SharedTensorsBuilder(
                client,
                model,
                byteSize -> new SharedRegion.OfSystem(
                        SharedMemoryObject.posix("/" + RegisteredRegion.uniqueName(), byteSize)));
    }

    /**
     * Tensors in the memory of GPU {@code gpu}, as CUDA counts them. The processor cannot reach them: values are copied
     * there and back, or written by other code on the GPU.
     */
    public static SharedTensorsBuilder cuda(GatunClient client, String model, int gpu) {
        return new SharedTensorsBuilder(client, model, byteSize -> SharedRegion.OfGpu.allocate(gpu, byteSize));
    }

    /** Tells the server of {@code region}, and takes it over; a failure leaves it to the caller. */
    static SharedTensors register(
            GatunClient client,
            String model,
            SharedRegion region,
            List<TensorSlot> inputs,
            List<TensorSlot> outputs,
            Consumer<InferRequest.Builder> more) {
        SharedTensors tensors = new SharedTensors(client, model, region, inputs, outputs, more);
        tensors.request();
        tensors.region.register();
        return tensors;
    }

    /** The name of the region at the server. */
    public String region() {
        return region.name();
    }

    /**
     * The memory of an input, to write to; of strings all their room. Valid until {@link #close}.
     *
     * @throws IllegalStateException on a GPU
     */
    public MemorySegment input(String name) {
        TensorSlot slot = input(name, "input()");
        return region.segment().asSlice(slot.offset, slot.byteSize);
    }

    /**
     * An output as the last response left it, in the shared memory itself: the next inference changes it. Valid until
     * {@link #close}.
     *
     * @throws IllegalStateException on a GPU, or before the first response
     */
    public Tensor output(String name) {
        TensorSlot slot = output(name, "output()");
        return slot.tensor(region.segment());
    }

    /** Name, datatype and shape of an output, as the last response said it. */
    public TensorSpec outputSpec(String name) {
        return output(name, "outputSpec()").spec;
    }

    /** An input's place on its GPU, until {@link #close}; complete writes there before {@link #infer}. */
    public DeviceMemory inputOnGpu(String name) {
        TensorSlot slot = input(name, "inputOnGpu()");
        return region.device().slice(slot.offset, slot.byteSize);
    }

    /** Where an output lies on its GPU. Valid until {@link #close}. */
    public DeviceMemory outputOnGpu(String name) {
        TensorSlot slot = find(outputs, "output", name, "outputOnGpu()");
        return region.device().slice(slot.offset, slot.byteSize);
    }

    /** Sets an INT32 or UINT32 input. */
    public void set(String name, int... values) {
        set(name, MemorySegment.ofArray(values), "int[]", Datatype.INT32, Datatype.UINT32);
    }

    /** Sets an INT64 or UINT64 input. */
    public void set(String name, long... values) {
        set(name, MemorySegment.ofArray(values), "long[]", Datatype.INT64, Datatype.UINT64);
    }

    /** Sets an FP32 input, or one of FP16 or BF16 to the nearest values that it has. */
    public void set(String name, float... values) {
        Datatype datatype = input(name, "set()").spec.datatype();
        if (datatype == Datatype.FP16 || datatype == Datatype.BF16) {
            set(name, ArrayTensors.halves(datatype, values));
            return;
        }
        set(name, MemorySegment.ofArray(values), "float[]", Datatype.FP32, Datatype.FP32);
    }

    /** Sets an FP64 input. */
    public void set(String name, double... values) {
        set(name, MemorySegment.ofArray(values), "double[]", Datatype.FP64, Datatype.FP64);
    }

    /** Sets an INT16 or UINT16 input, or one of FP16 or BF16 by its bits. */
    public void set(String name, short... values) {
        Datatype datatype = input(name, "set()").spec.datatype();
        boolean half = datatype == Datatype.FP16 || datatype == Datatype.BF16;
        set(name, MemorySegment.ofArray(values), "short[]", Datatype.INT16, half ? datatype : Datatype.UINT16);
    }

    /** Sets an INT8 or UINT8 input. */
    public void set(String name, byte... values) {
        set(name, MemorySegment.ofArray(values), "byte[]", Datatype.INT8, Datatype.UINT8);
    }

    /** Sets a BOOL input. */
    public void set(String name, boolean... values) {
        MemorySegment bytes = ArrayTensors.of(name, values).bytes();
        set(name, bytes, "boolean[]", Datatype.BOOL, Datatype.BOOL);
    }

    /**
     * Sets a BYTES input of texts, in UTF-8.
     *
     * @throws IllegalArgumentException when there is not one for each element, or not room for all
     */
    public void set(String name, String... values) {
        TensorSlot slot = input(name, "set()");
        if (!slot.isOfStrings()) {
            throw slot.refusal("input", "String[]");
        }
        slot.requireCount(values.length);
        fill(slot, ArrayTensors.of(name, values).bytes());
    }

    /**
     * Copies an input from elsewhere, whatever its datatype: the bytes as they are to lie in memory.
     *
     * @param bytes on the heap or not, of exactly the tensor's size; strings each with its length before it, and no
     *     more than their room
     */
    public void write(String input, MemorySegment bytes) {
        TensorSlot slot = input(input, "write()");
        slot.requireContent(bytes);
        fill(slot, bytes);
    }

    /**
     * Copies an output elsewhere.
     *
     * @param target on the heap or not, of exactly the output's size: see {@link #outputSpec}
     */
    public void read(String output, MemorySegment target) {
        TensorSlot slot = output(output, "read()");
        long byteSize = slot.content(region.memory()).byteSize();
        if (target.byteSize() != byteSize) {
            throw new IllegalArgumentException("output " + slot + " has " + byteSize
                    + " bytes, and the target has room for " + target.byteSize() + ": expected as many");
        }
        region.memory().read(slot.offset, target);
    }

    /** A copy of an INT32 or UINT32 output. */
    public int[] ints(String output) {
        return ArrayTensors.ints(copyable(output, "ints()"));
    }

    /** A copy of an INT64 or UINT64 output. */
    public long[] longs(String output) {
        return ArrayTensors.longs(copyable(output, "longs()"));
    }

    /** A copy of an FP32 output, or the values of an FP16 or BF16 one. */
    public float[] floats(String output) {
        return ArrayTensors.floats(copyable(output, "floats()"));
    }

    /** A copy of an FP64 output. */
    public double[] doubles(String output) {
        return ArrayTensors.doubles(copyable(output, "doubles()"));
    }

    /** A copy of an INT16, UINT16, FP16 or BF16 output. */
    public short[] shorts(String output) {
        return ArrayTensors.shorts(copyable(output, "shorts()"));
    }

    /** A copy of any output's bytes. */
    public byte[] bytes(String output) {
        return ArrayTensors.bytes(copyable(output, "bytes()"));
    }

    /** A copy of a BOOL output. */
    public boolean[] booleans(String output) {
        return ArrayTensors.booleans(copyable(output, "booleans()"));
    }

    /** A BYTES output as texts. */
    public List<String> strings(String output) {
        return ArrayTensors.strings(copyable(output, "strings()"));
    }

    /**
     * Makes one inference, and waits for it. Copies no tensor.
     *
     * @throws ClientException when it fails
     * @throws IllegalStateException while another one runs
     */
    public void infer() {
        use.begin();
        try {
            exchange(request());
        } finally {
            use.end();
        }
    }

    /** As {@link #infer()}, with more to say in this one request, such as its part in a sequence. */
    public void infer(Consumer<InferRequest.Builder> alsoSaid) {
        use.begin();
        try {
            exchange(inference.request(alsoSaid));
        } finally {
            use.end();
        }
    }

    /**
     * Makes one inference on a virtual thread. The outputs are there when the future is done; cancelling it gives the
     * call up.
     *
     * @throws IllegalStateException while another one runs
     */
    public CompletableFuture<Void> inferAsync() {
        use.begin();
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread caller = Thread.ofVirtual().name("gatun-shared-tensors").unstarted(() -> {
            Throwable failure = null;
            try {
                exchange(request());
            } catch (Throwable t) {
                failure = t;
            }
            // Before anybody who waited goes on.
            use.end();
            if (failure == null) {
                done.complete(null);
            } else {
                done.completeExceptionally(failure);
            }
        });
        CompletableFuture<Void> ignored = done.whenComplete((nothing, failure) -> {
            if (done.isCancelled()) {
                use.cancel(caller);
            }
        });
        caller.start();
        return done;
    }

    /**
     * The request that {@link #infer} makes, for other ways of sending it; whoever does so sees to it that only one is
     * under way. Valid until an input of strings is set.
     */
    public InferRequest request() {
        InferRequest known = request;
        if (known == null) {
            known = inference.request(builder -> {});
            request = known;
        }
        return known;
    }

    /**
     * Has the server forget the region, and gives the memory back. The memory goes also where the server cannot be
     * reached or the client is closed. A second call does nothing.
     *
     * @throws IllegalStateException while an inference runs; nothing is changed then
     * @throws ClientException when the server refused to forget the region; the memory was given back
     */
    @Override
    public void close() {
        if (use.isClosed()) {
            return;
        }
        use.begin();
        boolean freed = false;
        try {
            ClientException refusal = region.release();
            freed = true;
            if (refusal != null) {
                throw refusal;
            }
        } finally {
            if (freed) {
                use.close();
            } else {
                use.end();
            }
        }
    }

    private void exchange(InferRequest sent) {
        inference.exchange(sent);
        answered = true;
    }

    private void set(String name, MemorySegment values, String what, Datatype first, Datatype second) {
        TensorSlot slot = input(name, "set()");
        if (slot.spec.datatype() != first && slot.spec.datatype() != second) {
            throw slot.refusal("input", what);
        }
        slot.requireCount(values.byteSize() / first.byteSize());
        fill(slot, values);
    }

    private void fill(TensorSlot slot, MemorySegment bytes) {
        if (slot.fill(region.memory(), bytes)) {
            request = null;
        }
    }

    /** The output that arrays are copied from. */
    private Tensor copyable(String name, String call) {
        TensorSlot slot = output(name, call);
        return new Tensor(slot.spec, slot.content(region.memory()));
    }

    private TensorSlot input(String name, String call) {
        return find(inputs, "input", name, call);
    }

    private TensorSlot output(String name, String call) {
        TensorSlot slot = find(outputs, "output", name, call);
        if (!answered) {
            throw new IllegalStateException(call + " of '" + name + "': no inference of model '" + model
                    + "' was answered yet: call infer() first");
        }
        return slot;
    }

    private TensorSlot find(TensorSlot[] slots, String kind, String name, String call) {
        use.requireIdle(call, name);
        for (TensorSlot slot : slots) {
            if (slot.name().equals(name)) {
                return slot;
            }
        }
        throw new IllegalArgumentException(
                "the shared tensors of model '" + model + "' have no " + kind + " '" + name + "': expected one of "
                        + List.of(slots).stream().map(TensorSlot::name).toList());
    }
}
