// SPDX-License-Identifier: Apache-2.0
package gatun.testing.executions;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A run with the inputs that a test gives; keeps the outputs, the responses that were sent, and what becomes of its
 * requests. Not thread-safe.
 */
public final class RecordedExecution implements Execution {
    private static final long ALIGNMENT = 64;

    private final Arena arena = Arena.ofAuto();
    private final List<RecordedRequest> requests = new ArrayList<>();
    private final List<Tensor> inputs = new ArrayList<>();
    private final List<String> wanted;
    private final Map<String, Tensor> outputs = new LinkedHashMap<>();
    private final List<Map<String, Tensor>> sent = new ArrayList<>();
    private int outputMisalignment;

    /** @param wanted the names of the outputs that it asks for */
    public RecordedExecution(String... wanted) {
        this.wanted = List.of(wanted);
    }

    /** Has it be for requests with so many rows each; without, nothing is known of any. */
    public RecordedExecution forRows(int... batchSizes) {
        for (int batchSize : batchSizes) {
            requests.add(new RecordedRequest(batchSize));
        }
        return this;
    }

    /** Adds an input. */
    public RecordedExecution input(Tensor tensor) {
        inputs.add(tensor);
        return this;
    }

    private RecordedExecution input(String name, Datatype datatype, Shape shape, MemorySegment bytes) {
        return input(new Tensor(new TensorSpec(name, datatype, shape), bytes));
    }

    /** Adds an input of UINT8. */
    public RecordedExecution bytes(String name, Shape shape, int... values) {
        MemorySegment memory = arena.allocate(values.length, ALIGNMENT);
        for (int i = 0; i < values.length; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) values[i]);
        }
        return input(name, Datatype.UINT8, shape, memory);
    }

    /** Adds an input of INT32. */
    public RecordedExecution ints(String name, Shape shape, int... values) {
        return misalignedInts(0, name, shape, values);
    }

    /** Adds an input of INT32 that lies so many bytes behind a multiple of 64. */
    public RecordedExecution misalignedInts(int misalignment, String name, Shape shape, int... values) {
        long byteSize = (long) Integer.BYTES * values.length;
        MemorySegment memory = arena.allocate(ALIGNMENT + byteSize, ALIGNMENT).asSlice(misalignment, byteSize);
        for (int i = 0; i < values.length; i++) {
            memory.set(ValueLayout.JAVA_INT_UNALIGNED, (long) Integer.BYTES * i, values[i]);
        }
        return input(name, Datatype.INT32, shape, memory);
    }

    /** Adds an input of UINT64. */
    public RecordedExecution longs(String name, Shape shape, long... values) {
        MemorySegment memory = arena.allocate((long) Long.BYTES * values.length, ALIGNMENT);
        for (int i = 0; i < values.length; i++) {
            memory.set(ValueLayout.JAVA_LONG, (long) Long.BYTES * i, values[i]);
        }
        return input(name, Datatype.UINT64, shape, memory);
    }

    /** Adds an input of BYTES. */
    public RecordedExecution texts(String name, Shape shape, String... values) {
        MemorySegment memory = arena.allocate(BytesCodec.encodedTextByteSize(List.of(values)), ALIGNMENT);
        BytesCodec.encodeText(List.of(values), memory);
        return input(name, Datatype.BYTES, shape, memory);
    }

    /** Hands out memory for outputs that lies so many bytes behind a multiple of 64. */
    public RecordedExecution misalignOutputs(int bytes) {
        outputMisalignment = bytes;
        return this;
    }

    /** One of the requests that it is for. */
    public RecordedRequest request(int index) {
        return requests.get(index);
    }

    /** What was made since the last response was sent, by name. */
    public Map<String, Tensor> outputs() {
        return outputs;
    }

    /** The outputs of the responses that were sent. */
    public List<Map<String, Tensor>> sent() {
        return sent;
    }

    /** An output. */
    public Tensor output(String name) {
        Tensor made = outputs.get(name);
        if (made == null) {
            throw new AssertionError("output '" + name + "' was not made");
        }
        return made;
    }

    /** An output's elements, of four bytes each. */
    public int[] ints(String name) {
        MemorySegment bytes = output(name).bytes();
        return IntStream.range(0, (int) (bytes.byteSize() / Integer.BYTES))
                .map(i -> bytes.get(ValueLayout.JAVA_INT_UNALIGNED, (long) Integer.BYTES * i))
                .toArray();
    }

    /** An output's elements, of BYTES. */
    public List<String> texts(String name) {
        MemorySegment bytes = output(name).bytes();
        List<String> texts = new ArrayList<>();
        BytesCodec.forEach(bytes, (offset, byteSize) -> texts.add(BytesCodec.text(bytes, offset, byteSize)));
        return texts;
    }

    @Override
    public List<ExecutionRequest> requests() {
        return List.copyOf(requests);
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
        MemorySegment memory = arena.allocate(ALIGNMENT + byteSize, ALIGNMENT).asSlice(outputMisalignment, byteSize);
        memory.fill((byte) 0x55); // as undefined as that of others
        outputs.put(outputName(index), new Tensor(new TensorSpec(outputName(index), datatype, shape), memory));
        return memory;
    }

    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        throw new AssertionError("no output is an input");
    }

    @Override
    public void send() {
        sent.add(Map.copyOf(outputs));
        outputs.clear();
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
