// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Execution;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** One run with the inputs that a test gives; remembers the outputs and where they were written. */
final class RecordingExecution implements Execution {
    private final Arena arena;
    private final List<Tensor> inputs = new ArrayList<>();
    private final List<String> wanted;
    private final Map<String, Tensor> outputs = new LinkedHashMap<>();
    private int outputMisalignment;

    RecordingExecution(Arena arena, String... wanted) {
        this.arena = arena;
        this.wanted = List.of(wanted);
    }

    RecordingExecution input(String name, Shape shape, int... values) {
        return input(name, shape, 0, values);
    }

    /** Adds an INT32 input that lies {@code misalignment} bytes behind a multiple of 64. */
    RecordingExecution input(String name, Shape shape, int misalignment, int[] values) {
        MemorySegment memory = arena.allocate(64 + 4L * values.length, 64).asSlice(misalignment, 4L * values.length);
        for (int i = 0; i < values.length; i++) {
            memory.set(ValueLayout.JAVA_INT_UNALIGNED, 4L * i, values[i]);
        }
        return input(new Tensor(new TensorSpec(name, Datatype.INT32, shape), memory));
    }

    RecordingExecution input(Tensor tensor) {
        inputs.add(tensor);
        return this;
    }

    RecordingExecution strings(String name, Shape shape, String... values) {
        List<byte[]> encoded = new ArrayList<>();
        long byteSize = 0;
        for (String value : values) {
            byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
            encoded.add(bytes);
            byteSize += 4 + bytes.length;
        }
        MemorySegment memory = arena.allocate(byteSize, 64);
        long at = 0;
        for (byte[] bytes : encoded) {
            memory.set(ValueLayout.JAVA_INT_UNALIGNED, at, bytes.length);
            MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, at + 4, bytes.length);
            at += 4 + bytes.length;
        }
        return input(new Tensor(new TensorSpec(name, Datatype.BYTES, shape), memory));
    }

    /** Hands out output memory that lies {@code bytes} behind a multiple of 64. */
    RecordingExecution misalignOutputs(int bytes) {
        outputMisalignment = bytes;
        return this;
    }

    Tensor output(String name) {
        return Objects.requireNonNull(outputs.get(name));
    }

    int[] ints(String name) {
        MemorySegment bytes = Objects.requireNonNull(outputs.get(name)).bytes();
        int[] values = new int[(int) (bytes.byteSize() / 4)];
        for (int i = 0; i < values.length; i++) {
            values[i] = bytes.get(ValueLayout.JAVA_INT_UNALIGNED, 4L * i);
        }
        return values;
    }

    List<String> strings(String name) {
        MemorySegment bytes = Objects.requireNonNull(outputs.get(name)).bytes();
        List<String> values = new ArrayList<>();
        for (long at = 0; at < bytes.byteSize(); ) {
            int length = bytes.get(ValueLayout.JAVA_INT_UNALIGNED, at);
            byte[] text = bytes.asSlice(at + 4, length).toArray(ValueLayout.JAVA_BYTE);
            values.add(new String(text, StandardCharsets.UTF_8));
            at += 4 + length;
        }
        return values;
    }

    @Override
    public int inputCount() {
        return inputs.size();
    }

    @Override
    public Tensor input(int index) {
        return inputs.get(index);
    }

    @Override
    public int outputCount() {
        return wanted.size();
    }

    @Override
    public String outputName(int index) {
        return wanted.get(index);
    }

    @Override
    public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
        MemorySegment memory = arena.allocate(64 + byteSize, 64).asSlice(outputMisalignment, byteSize);
        outputs.put(wanted.get(index), new Tensor(new TensorSpec(wanted.get(index), datatype, shape), memory));
        return memory;
    }

    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        throw new AssertionError("this engine never answers with an input");
    }

    @Override
    public void inferStarted() {
        // Only the runtime measures.
    }

    @Override
    public void inferEnded() {
        // Only the runtime measures.
    }
}
