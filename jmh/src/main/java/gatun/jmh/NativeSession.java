// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import ai.onnxruntime.OrtEnvironment;
import gatun.bindings.LibraryCache;
import gatun.bindings.NativeLibrary;
import gatun.bindings.OnnxRuntime;
import gatun.bindings.onnxruntime.OrtApi;
import gatun.bindings.onnxruntime.onnxruntime_h;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A session of a model with prepared values and one intra-op thread, on nothing but the generated bindings. */
final class NativeSession implements AutoCloseable {
    private static final String LIBRARY = "/ai/onnxruntime/native/linux-x64/libonnxruntime.so";

    private final OnnxRuntime runtime;
    private final MemorySegment api;
    private final MemorySegment session;
    private final MemorySegment inputNames;
    private final MemorySegment outputNames;
    private final MemorySegment inputs;
    private final MemorySegment outputs;
    private final List<MemorySegment> data = new ArrayList<>();
    private final int inputCount;

    /**
     * One tensor of the model, in memory of its own.
     *
     * @param elementType as the C API numbers it; of four bytes
     */
    record Slot(String name, int elementType, List<Long> shape) {
        private long byteSize() {
            long size = Integer.BYTES;
            for (long dim : shape) {
                size *= dim;
            }
            return size;
        }
    }

    /** A session of {@code simple}, whose inputs count upwards and are all ones. */
    static NativeSession simple(Arena arena, Path model, int elements) {
        int type = onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32();
        List<Long> shape = List.of(1L, (long) elements);
        NativeSession session = new NativeSession(
                arena,
                model,
                List.of(new Slot("INPUT0", type, shape), new Slot("INPUT1", type, shape)),
                List.of(new Slot("OUTPUT0", type, shape), new Slot("OUTPUT1", type, shape)));
        for (int i = 0; i < elements; i++) {
            session.data.get(0).setAtIndex(ValueLayout.JAVA_INT, i, i);
            session.data.get(1).setAtIndex(ValueLayout.JAVA_INT, i, 1);
        }
        return session;
    }

    /** A session of any model; its inputs are zeros. */
    NativeSession(Arena arena, Path model, List<Slot> inputSlots, List<Slot> outputSlots) {
        inputCount = inputSlots.size();
        URL resource = Objects.requireNonNull(OrtEnvironment.class.getResource(LIBRARY), LIBRARY);
        Path file = LibraryCache.ofUser().unpack(resource);
        // The Java API would load a second copy of the library, and two copies in one process do not get on.
        System.setProperty("onnxruntime.native.onnxruntime.path", file.toString());
        NativeLibrary library = OnnxRuntime.open(file);
        if (!(library instanceof NativeLibrary.Available available)) {
            throw new IllegalStateException(library.toString());
        }
        runtime = OnnxRuntime.of(available);
        api = runtime.api();

        MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
        check(OrtApi.createEnv(api, onnxruntime_h.ORT_LOGGING_LEVEL_WARNING(), arena.allocateFrom("benchmark"), out));
        MemorySegment environment = out.get(ValueLayout.ADDRESS, 0);
        check(OrtApi.createSessionOptions(api, out));
        MemorySegment options = out.get(ValueLayout.ADDRESS, 0);
        check(OrtApi.setIntraOpNumThreads(api, options, 1));
        check(OrtApi.createSession(api, environment, arena.allocateFrom(model.toString()), options, out));
        session = out.get(ValueLayout.ADDRESS, 0);

        check(OrtApi.createCpuMemoryInfo(
                api, onnxruntime_h.OrtDeviceAllocator(), onnxruntime_h.OrtMemTypeDefault(), out));
        MemorySegment memory = out.get(ValueLayout.ADDRESS, 0);
        inputs = values(arena, memory, inputSlots);
        outputs = values(arena, memory, outputSlots);
        inputNames = names(arena, inputSlots);
        outputNames = names(arena, outputSlots);
    }

    private MemorySegment values(Arena arena, MemorySegment memory, List<Slot> slots) {
        MemorySegment values = arena.allocate(ValueLayout.ADDRESS, slots.size());
        for (int i = 0; i < slots.size(); i++) {
            Slot slot = slots.get(i);
            MemorySegment bytes = arena.allocate(slot.byteSize(), 64);
            data.add(bytes);
            check(OrtApi.createTensorWithDataAsOrtValue(
                    api,
                    memory,
                    bytes,
                    bytes.byteSize(),
                    arena.allocateFrom(
                            ValueLayout.JAVA_LONG,
                            slot.shape().stream().mapToLong(Long::longValue).toArray()),
                    slot.shape().size(),
                    slot.elementType(),
                    values.asSlice(i * ValueLayout.ADDRESS.byteSize())));
        }
        return values;
    }

    private static MemorySegment names(Arena arena, List<Slot> slots) {
        MemorySegment names = arena.allocate(ValueLayout.ADDRESS, slots.size());
        for (int i = 0; i < slots.size(); i++) {
            names.setAtIndex(
                    ValueLayout.ADDRESS, i, arena.allocateFrom(slots.get(i).name()));
        }
        return names;
    }

    /** Runs it once, through the bindings. */
    void run() {
        long status = OrtApi.run(
                api,
                session,
                MemorySegment.NULL,
                inputNames,
                inputs,
                inputCount,
                outputNames,
                data.size() - inputCount,
                outputs);
        if (status != 0) {
            check(MemorySegment.ofAddress(status));
        }
    }

    MemorySegment api() {
        return api;
    }

    MemorySegment handle() {
        return session;
    }

    MemorySegment inputNames() {
        return inputNames;
    }

    MemorySegment inputs() {
        return inputs;
    }

    MemorySegment outputNames() {
        return outputNames;
    }

    MemorySegment outputs() {
        return outputs;
    }

    int output(int index, int element) {
        return data.get(inputCount + index).getAtIndex(ValueLayout.JAVA_INT, element);
    }

    void check(MemorySegment status) {
        runtime.check(status);
    }

    @Override
    public void close() {
        for (int i = 0; i < data.size(); i++) {
            MemorySegment value = i < inputCount
                    ? inputs.getAtIndex(ValueLayout.ADDRESS, i)
                    : outputs.getAtIndex(ValueLayout.ADDRESS, i - inputCount);
            OrtApi.releaseValue(api, value);
        }
        OrtApi.releaseSession(api, session);
    }
}
