// SPDX-License-Identifier: Apache-2.0
package gatun.it.sharedmemory;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.OnnxGraph;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.IntToLongFunction;

/**
 * A model whose engine reads a tensor twice, a request to it, a tensor that another process flips between two contents
 * meanwhile, and what an answer may be made of. Made once, used by one thread.
 */
final class FlippedTensor {
    private static final int ROWS = 16;
    private static final int COLUMNS = 4;
    private static final int COUNT = 64;
    private static final long PLACE_ALIGNMENT = 1024;

    /** What no model gives, in memory that is to be written. */
    private static final byte UNWRITTEN = (byte) 0xFF;

    private final String name;
    private final OnnxGraph model;
    private final List<Place> inputs = new ArrayList<>();
    private final List<Answer> outputs = new ArrayList<>();
    private long end;
    private long flippedOffset;
    private byte[] first = {};
    private byte[] second = {};

    private FlippedTensor(String name, OnnxGraph model) {
        this.name = name;
        this.model = model;
    }

    /** A tensor of a request, and where it lies from the beginning of the memory on; the content of inputs alone. */
    record Place(String name, String datatype, long offset, long byteSize, List<Long> shape, MemorySegment content) {}

    /** The part of an answer, and how it is checked; its bytes are the room where it was not written. */
    private record Answer(Place place, Consumer<MemorySegment> check) {}

    /** All of them. */
    static List<FlippedTensor> all() {
        return List.of(
                rows("indices", i -> (i + 5) % ROWS),
                rows("indices_outside", FlippedTensor::outside),
                scales(),
                shaped("Reshape", integers(8, 8), integers(1 << 20, 64), 64),
                shaped("Expand", integers(2, 2), integers(64, 64), 1),
                shaped("Tile", integers(1, 1), integers(32, 32), 2, 2),
                range(),
                largest(),
                output());
    }

    private static FlippedTensor rows(String name, IntToLongFunction flipped) {
        return new FlippedTensor(
                        name,
                        table().input("IDS", OnnxGraph.INT64, Integer.toString(COUNT))
                                .output("OUT", OnnxGraph.FLOAT, Integer.toString(COUNT), Integer.toString(COLUMNS))
                                .node("Gather", "table IDS", "OUT"))
                .flippedInput("IDS", "INT64", integers(i -> i % ROWS), integers(flipped), COUNT)
                .output("OUT", COUNT * COLUMNS * Float.BYTES, rows -> checkRows(rows, i -> i % ROWS, flipped));
    }

    private static FlippedTensor scales() {
        return new FlippedTensor(
                        "scales",
                        new OnnxGraph()
                                .input("X", OnnxGraph.FLOAT, "1", "1", "4", "4")
                                .input("SCALES", OnnxGraph.FLOAT, "4")
                                .output("OUT", OnnxGraph.FLOAT, "", "", "", "")
                                .node("Resize", "X - SCALES", "OUT"))
                .input("X", "FP32", sevens(16), 1, 1, 4, 4)
                .flippedInput("SCALES", "FP32", floats(1, 1, 1, 1), floats(1, 1, 16, 16), 4)
                .output("OUT", 16 << 10, FlippedTensor::checkSevens);
    }

    private static FlippedTensor shaped(String operator, byte[] one, byte[] other, long... shape) {
        return new FlippedTensor(
                        operator.toLowerCase(Locale.ROOT),
                        new OnnxGraph()
                                .input("X", OnnxGraph.FLOAT, texts(shape))
                                .input("SHAPE", OnnxGraph.INT64, "2")
                                .output("OUT", OnnxGraph.FLOAT, "", "")
                                .node(operator, "X SHAPE", "OUT"))
                .input("X", "FP32", sevens((int) Arrays.stream(shape).reduce(1, (a, b) -> a * b)), shape)
                .flippedInput("SHAPE", "INT64", one, other, 2)
                .output("OUT", 16 << 10, FlippedTensor::checkSevens);
    }

    private static String[] texts(long... dims) {
        return Arrays.stream(dims).mapToObj(Long::toString).toArray(String[]::new);
    }

    private static FlippedTensor range() {
        return new FlippedTensor(
                        "range",
                        new OnnxGraph()
                                .input("COUNT", OnnxGraph.INT64, "1")
                                .output("OUT", OnnxGraph.INT64, "")
                                .integers("zeros", 0)
                                .integers("ones", 1)
                                .node("Squeeze", "zeros", "zero")
                                .node("Squeeze", "ones", "one")
                                .node("Squeeze", "COUNT", "end")
                                .node("Range", "zero end one", "OUT"))
                .flippedInput("COUNT", "INT64", integers(4), integers(2000), 1)
                .output("OUT", 16 << 10, FlippedTensor::checkCount);
    }

    private static FlippedTensor largest() {
        return new FlippedTensor(
                        "largest",
                        new OnnxGraph()
                                .input("X", OnnxGraph.FLOAT, "512")
                                .output("VALUES", OnnxGraph.FLOAT, "8")
                                .output("OUT", OnnxGraph.INT64, "8")
                                .integers("k", 8)
                                .node("TopK", "X k", "VALUES OUT"))
                .flippedInput("X", "FP32", ascending(512), descending(512), 512)
                .output("VALUES", 8 * Float.BYTES, FlippedTensor::checkElements)
                .output("OUT", 8 * Long.BYTES, FlippedTensor::checkPlaces);
    }

    /** The client changes an output that another operator takes as indices. */
    private static FlippedTensor output() {
        return new FlippedTensor(
                        "output",
                        table().input("A", OnnxGraph.INT64, Integer.toString(COUNT))
                                .input("B", OnnxGraph.INT64, Integer.toString(COUNT))
                                .output("IDS", OnnxGraph.INT64, Integer.toString(COUNT))
                                .output("OUT", OnnxGraph.FLOAT, Integer.toString(COUNT), Integer.toString(COLUMNS))
                                .node("Add", "A B", "IDS")
                                .node("Gather", "table IDS", "OUT"))
                .input("A", "INT64", integers(i -> i % 8), COUNT)
                .input("B", "INT64", integers(i -> i % 3), COUNT)
                .flippedOutput("IDS", integers(FlippedTensor::outside), integers(i -> 0))
                .output(
                        "OUT",
                        COUNT * COLUMNS * Float.BYTES,
                        rows -> checkRows(rows, i -> i % 8 + i % 3, i -> i % 8 + i % 3));
    }

    private FlippedTensor input(String tensor, String datatype, byte[] content, long... shape) {
        List<Long> dims = Arrays.stream(shape).boxed().toList();
        inputs.add(new Place(
                tensor, datatype, take(content.length), content.length, dims, MemorySegment.ofArray(content)));
        return this;
    }

    private FlippedTensor flippedInput(String tensor, String datatype, byte[] one, byte[] other, long... shape) {
        flip(one, other);
        return input(tensor, datatype, one, shape);
    }

    private FlippedTensor output(String tensor, long room, Consumer<MemorySegment> check) {
        outputs.add(new Answer(new Place(tensor, "", take(room), room, List.of(), MemorySegment.NULL), check));
        return this;
    }

    private FlippedTensor flippedOutput(String tensor, byte[] one, byte[] other) {
        flip(one, other);
        return output(tensor, one.length, ids -> {});
    }

    private void flip(byte[] one, byte[] other) {
        flippedOffset = end;
        first = one;
        second = other;
    }

    private long take(long byteSize) {
        long begin = end;
        end += Math.ceilDiv(byteSize, PLACE_ALIGNMENT) * PLACE_ALIGNMENT;
        return begin;
    }

    /** The name of the model. */
    String name() {
        return name;
    }

    void write(Path repository) {
        model.write(repository.resolve(name).resolve("1"));
    }

    /** Where the tensor lies that is flipped, from the beginning of the memory on. */
    long flippedOffset() {
        return flippedOffset;
    }

    byte[] first() {
        return first;
    }

    byte[] second() {
        return second;
    }

    List<Place> inputs() {
        return inputs;
    }

    List<Place> outputs() {
        return outputs.stream().map(Answer::place).toList();
    }

    /** Writes the inputs. */
    void fill(MemorySegment memory) {
        for (Place input : inputs) {
            MemorySegment.copy(input.content(), 0, memory, input.offset(), input.byteSize());
        }
    }

    /** Makes the rooms of outputs ready for the next answer. */
    void clear(MemorySegment memory) {
        outputs.forEach(output -> room(output, memory).fill(UNWRITTEN));
    }

    /** Checks what was answered. */
    void check(MemorySegment memory) {
        outputs.forEach(output -> output.check().accept(room(output, memory)));
    }

    private static MemorySegment room(Answer output, MemorySegment memory) {
        return memory.asSlice(output.place().offset(), output.place().byteSize());
    }

    /** A table whose rows say which they are. */
    private static OnnxGraph table() {
        float[] values = new float[ROWS * COLUMNS];
        for (int i = 0; i < values.length; i++) {
            values[i] = 1000 + i / COLUMNS;
        }
        return new OnnxGraph().numbers("table", values, ROWS, COLUMNS);
    }

    /** Indices of rows that the table does not have: near it, or where nothing is mapped. */
    private static long outside(int i) {
        return i % 2 == 0 ? 20_000 + 64L * i : 1L << 36;
    }

    private static void checkRows(MemorySegment rows, IntToLongFunction one, IntToLongFunction other) {
        for (int i = 0; i < COUNT; i++) {
            for (int column = 0; column < COLUMNS; column++) {
                float value = rows.getAtIndex(ValueLayout.JAVA_FLOAT, (long) COLUMNS * i + column);
                assertThat(value)
                        .as("column %d of row %d", column, i)
                        .isEqualTo(rows.getAtIndex(ValueLayout.JAVA_FLOAT, (long) COLUMNS * i))
                        .isIn(1000f + one.applyAsLong(i), 1000f + other.applyAsLong(i));
            }
        }
    }

    /** Sevens, and behind them nothing. */
    private static void checkSevens(MemorySegment values) {
        float[] all = values.toArray(ValueLayout.JAVA_FLOAT);
        int written = 0;
        while (written < all.length && all[written] == 7) {
            written++;
        }
        assertThat(written).isPositive();
        checkUnwritten(values.asSlice((long) written * Float.BYTES));
    }

    /** The numbers from 0 on, and behind them nothing. */
    private static void checkCount(MemorySegment values) {
        long[] all = values.toArray(ValueLayout.JAVA_LONG);
        int written = 0;
        while (written < all.length && all[written] == written) {
            written++;
        }
        assertThat(written).isIn(4, 2000);
        checkUnwritten(values.asSlice((long) written * Long.BYTES));
    }

    private static void checkUnwritten(MemorySegment rest) {
        for (byte unwritten : rest.toArray(ValueLayout.JAVA_BYTE)) {
            assertThat(unwritten).isEqualTo(UNWRITTEN);
        }
    }

    /** Elements of an input that ascends or descends. */
    private static void checkElements(MemorySegment values) {
        for (float value : values.toArray(ValueLayout.JAVA_FLOAT)) {
            assertThat(value).isBetween(0f, 512f);
        }
    }

    private static void checkPlaces(MemorySegment indices) {
        for (long index : indices.toArray(ValueLayout.JAVA_LONG)) {
            assertThat(index).isBetween(0L, 511L);
        }
    }

    private static byte[] sevens(int count) {
        float[] values = new float[count];
        Arrays.fill(values, 7);
        return floats(values);
    }

    private static byte[] ascending(int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = i;
        }
        return floats(values);
    }

    private static byte[] descending(int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = count - i;
        }
        return floats(values);
    }

    private static byte[] floats(float... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            bytes.putFloat(value);
        }
        return bytes.array();
    }

    private static byte[] integers(IntToLongFunction values) {
        long[] all = new long[COUNT];
        Arrays.setAll(all, values);
        return integers(all);
    }

    private static byte[] integers(long... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long value : values) {
            bytes.putLong(value);
        }
        return bytes.array();
    }
}
