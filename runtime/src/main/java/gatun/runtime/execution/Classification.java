package gatun.runtime.execution;

import gatun.memory.Buffer;
import gatun.memory.BufferPool;
import gatun.memory.BytesCodec;
import gatun.memory.Datatype;
import gatun.memory.ElementLayouts;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.memory.TensorSpec;
import gatun.runtime.OutputTensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** Turns an output into the names of its largest elements: {@code value:index:label}, for each item of the batch. */
final class Classification {
    private static final long ELEMENT_LIMIT = 1_000_000;
    private static final int FRACTION_DIGITS = 6;

    private final Tensor scores;
    private final List<String> labels;

    private Classification(Tensor scores, List<String> labels) {
        this.scores = scores;
        this.labels = labels;
    }

    /** @throws GatunException INVALID_ARGUMENT when elements of that type are not classified */
    static void requireSupported(Datatype datatype) {
        switch (datatype) {
            case BOOL, FP16, BF16, BYTES, INVALID ->
                throw GatunException.invalidArgument(
                        "class result not available for output due to unsupported type '" + datatype.wireName() + "'");
            case UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64, FP32, FP64 -> {}
        }
    }

    /**
     * Answers output {@code index} of {@code ticket}, which holds scores now, with the wanted number of classes.
     *
     * @param leadingDims 1 when the scores have a batch dimension, else 0
     */
    static void apply(InferenceTicket ticket, int index, OutputTensor result, int leadingDims, BufferPool pool) {
        Tensor scores = result.tensor();
        Shape shape = scores.spec().shape();
        if (shape.elementCount() > ELEMENT_LIMIT) {
            throw GatunException.invalidArgument("classification output tensor too large");
        }
        int items = leadingDims == 0 ? 1 : Math.toIntExact(shape.dim(0));
        int classes = Math.toIntExact(shape.elementCount(leadingDims));
        int count = Math.min(ticket.wanted(index).classification(), classes);
        List<String> texts = new Classification(scores, ticket.rule(index).labels()).largest(items, classes, count);
        Buffer buffer = pool.take(BytesCodec.encodedTextByteSize(texts));
        MemorySegment bytes = buffer.segment();
        BytesCodec.encodeText(texts, bytes);
        Shape answered = leadingDims == 0 ? Shape.of(count) : Shape.of(items, count);
        TensorSpec spec = new TensorSpec(scores.spec().name(), Datatype.BYTES, answered);
        ticket.result(index, new OutputTensor(new Tensor(spec, bytes), false), buffer);
    }

    private List<String> largest(int items, int classes, int count) {
        List<String> texts = new ArrayList<>(items * count);
        for (int item = 0; item < items; item++) {
            int first = item * classes;
            IntStream.range(0, classes)
                    .boxed()
                    .sorted(descending(first))
                    .limit(count)
                    .forEach(index -> texts.add(text(first + index, index)));
        }
        return texts;
    }

    private Comparator<Integer> descending(int first) {
        return switch (scores.spec().datatype()) {
            case FP32, FP64 -> (a, b) -> Double.compare(real(first + b), real(first + a));
            case UINT64 -> (a, b) -> Long.compareUnsigned(integer(first + b), integer(first + a));
            default -> (a, b) -> Long.compare(integer(first + b), integer(first + a));
        };
    }

    private String text(int element, int index) {
        String value =
                switch (scores.spec().datatype()) {
                    case FP32, FP64 -> fixedPoint(real(element));
                    case UINT64 -> Long.toUnsignedString(integer(element));
                    default -> Long.toString(integer(element));
                };
        String label = index < labels.size() ? labels.get(index) : "";
        return value + ":" + index + (label.isEmpty() ? "" : ":" + label);
    }

    private double real(int element) {
        MemorySegment bytes = scores.bytes();
        return scores.spec().datatype() == Datatype.FP32
                ? bytes.get(ElementLayouts.FP32, (long) element * Float.BYTES)
                : bytes.get(ElementLayouts.FP64, (long) element * Double.BYTES);
    }

    private long integer(int element) {
        MemorySegment bytes = scores.bytes();
        return switch (scores.spec().datatype()) {
            case UINT8 -> Byte.toUnsignedLong(bytes.get(ValueLayout.JAVA_BYTE, element));
            case INT8 -> bytes.get(ValueLayout.JAVA_BYTE, element);
            case UINT16 -> Short.toUnsignedLong(bytes.get(ElementLayouts.INT16, (long) element * Short.BYTES));
            case INT16 -> bytes.get(ElementLayouts.INT16, (long) element * Short.BYTES);
            case UINT32 -> Integer.toUnsignedLong(bytes.get(ElementLayouts.INT32, (long) element * Integer.BYTES));
            case INT32 -> bytes.get(ElementLayouts.INT32, (long) element * Integer.BYTES);
            case UINT64, INT64 -> bytes.get(ElementLayouts.INT64, (long) element * Long.BYTES);
            case BOOL, FP16, BF16, FP32, FP64, BYTES, INVALID ->
                throw new AssertionError("not an integer: " + scores.spec().datatype());
        };
    }

    /** As C's {@code %f} prints it: six decimals of the exact value, half to even. */
    static String fixedPoint(double value) {
        if (Double.isNaN(value)) {
            return "nan";
        }
        String sign = Double.doubleToRawLongBits(value) < 0 ? "-" : "";
        if (Double.isInfinite(value)) {
            return sign + "inf";
        }
        return sign
                + new BigDecimal(Math.abs(value))
                        .setScale(FRACTION_DIGITS, RoundingMode.HALF_EVEN)
                        .toPlainString();
    }
}
