// SPDX-License-Identifier: Apache-2.0
package gatun.backend.sequence;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Execution;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A run over a batch, one element to a row. */
final class Rows implements Execution {
    private final Arena arena = Arena.ofAuto();
    private final List<Tensor> inputs = new ArrayList<>();
    private MemorySegment output = MemorySegment.NULL;

    /** Adds an input of INT32. */
    Rows ints(String name, int... values) {
        MemorySegment bytes = arena.allocate(4L * values.length, 64);
        for (int i = 0; i < values.length; i++) {
            bytes.setAtIndex(ElementLayouts.INT32, i, values[i]);
        }
        return add(name, Datatype.INT32, values.length, bytes);
    }

    /** Adds an input of UINT64. */
    Rows longs(String name, long... values) {
        MemorySegment bytes = arena.allocate(8L * values.length, 64);
        for (int i = 0; i < values.length; i++) {
            bytes.setAtIndex(ElementLayouts.INT64, i, values[i]);
        }
        return add(name, Datatype.UINT64, values.length, bytes);
    }

    /** Adds an input of BYTES. */
    Rows texts(String name, String... values) {
        MemorySegment bytes = arena.allocate(BytesCodec.encodedTextByteSize(List.of(values)), 64);
        BytesCodec.encodeText(List.of(values), bytes);
        return add(name, Datatype.BYTES, values.length, bytes);
    }

    private Rows add(String name, Datatype datatype, int rows, MemorySegment bytes) {
        inputs.add(new Tensor(new TensorSpec(name, datatype, Shape.of(rows, 1)), bytes));
        return this;
    }

    /** The output as the run left it. */
    List<Integer> sums() {
        List<Integer> sums = new ArrayList<>();
        for (int i = 0; i < output.byteSize() / 4; i++) {
            sums.add(output.getAtIndex(ElementLayouts.INT32, i));
        }
        return sums;
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
        return 1;
    }

    @Override
    public String outputName(int index) {
        return "OUTPUT";
    }

    @Override
    public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
        output = arena.allocate(byteSize, 64);
        return output;
    }

    @Override
    public void outputFromInput(int index, int input, Shape shape) {
        throw new AssertionError("a sum is no input");
    }

    @Override
    public void inferStarted() {}

    @Override
    public void inferEnded() {}
}
