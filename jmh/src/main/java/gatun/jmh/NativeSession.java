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
import java.util.Objects;

/** A session of the model {@code simple} with prepared values, on nothing but the generated bindings. */
final class NativeSession implements AutoCloseable {
    private static final String LIBRARY = "/ai/onnxruntime/native/linux-x64/libonnxruntime.so";

    private final OnnxRuntime runtime;
    private final MemorySegment api;
    private final MemorySegment session;
    private final MemorySegment inputNames;
    private final MemorySegment outputNames;
    private final MemorySegment inputs;
    private final MemorySegment outputs;
    private final MemorySegment[] data = new MemorySegment[4];

    NativeSession(Arena arena, Path model, int elements) {
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
        check(OrtApi.CreateEnv.invoke(
                OrtApi.CreateEnv(api),
                onnxruntime_h.ORT_LOGGING_LEVEL_WARNING(),
                arena.allocateFrom("benchmark"),
                out));
        MemorySegment environment = out.get(ValueLayout.ADDRESS, 0);
        check(OrtApi.CreateSessionOptions.invoke(OrtApi.CreateSessionOptions(api), out));
        MemorySegment options = out.get(ValueLayout.ADDRESS, 0);
        check(OrtApi.SetIntraOpNumThreads.invoke(OrtApi.SetIntraOpNumThreads(api), options, 1));
        check(OrtApi.CreateSession.invoke(
                OrtApi.CreateSession(api), environment, arena.allocateFrom(model.toString()), options, out));
        session = out.get(ValueLayout.ADDRESS, 0);

        check(OrtApi.CreateCpuMemoryInfo.invoke(
                OrtApi.CreateCpuMemoryInfo(api),
                onnxruntime_h.OrtDeviceAllocator(),
                onnxruntime_h.OrtMemTypeDefault(),
                out));
        MemorySegment memory = out.get(ValueLayout.ADDRESS, 0);
        MemorySegment shape = arena.allocateFrom(ValueLayout.JAVA_LONG, 1, elements);
        MemorySegment values = arena.allocate(ValueLayout.ADDRESS, 4);
        for (int i = 0; i < 4; i++) {
            data[i] = arena.allocate((long) elements * Integer.BYTES, 64);
            check(OrtApi.CreateTensorWithDataAsOrtValue.invoke(
                    OrtApi.CreateTensorWithDataAsOrtValue(api),
                    memory,
                    data[i],
                    data[i].byteSize(),
                    shape,
                    2,
                    onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32(),
                    values.asSlice(i * ValueLayout.ADDRESS.byteSize())));
        }
        for (int i = 0; i < elements; i++) {
            data[0].setAtIndex(ValueLayout.JAVA_INT, i, i);
            data[1].setAtIndex(ValueLayout.JAVA_INT, i, 1);
        }
        inputs = values.asSlice(0, 2 * ValueLayout.ADDRESS.byteSize());
        outputs = values.asSlice(2 * ValueLayout.ADDRESS.byteSize());
        inputNames = names(arena, "INPUT0", "INPUT1");
        outputNames = names(arena, "OUTPUT0", "OUTPUT1");
    }

    private static MemorySegment names(Arena arena, String first, String second) {
        MemorySegment names = arena.allocate(ValueLayout.ADDRESS, 2);
        names.setAtIndex(ValueLayout.ADDRESS, 0, arena.allocateFrom(first));
        names.setAtIndex(ValueLayout.ADDRESS, 1, arena.allocateFrom(second));
        return names;
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
        return data[2 + index].getAtIndex(ValueLayout.JAVA_INT, element);
    }

    void check(MemorySegment status) {
        runtime.check(status);
    }

    @Override
    public void close() {
        for (int i = 0; i < 2; i++) {
            OrtApi.ReleaseValue.invoke(OrtApi.ReleaseValue(api), inputs.getAtIndex(ValueLayout.ADDRESS, i));
            OrtApi.ReleaseValue.invoke(OrtApi.ReleaseValue(api), outputs.getAtIndex(ValueLayout.ADDRESS, i));
        }
        OrtApi.ReleaseSession.invoke(OrtApi.ReleaseSession(api), session);
    }
}
