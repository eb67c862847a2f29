// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.Ranking;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;

/** Turns an output into the names of its largest elements: {@code value:index:label}, for each item of the batch. */
final class Classification {
    private static final int FRACTION_DIGITS = 6;

    private Classification() {}

    /** Replaces output {@code index}, scores with {@code leadingDims} of 0 or 1, by the wanted classes. */
    static void apply(PendingInference pending, int index, OutputTensor result, int leadingDims, BufferPool pool) {
        Tensor scores = result.tensor();
        Ranking ranking = Ranking.of(scores, leadingDims);
        int count = Math.min(pending.tensors().requestedOutput(index).classification(), ranking.classes());
        List<String> labels = pending.tensors().rule(index).labels();
        List<String> texts = new ArrayList<>(ranking.items() * count);
        for (int item = 0; item < ranking.items(); item++) {
            for (int best : ranking.largest(item, count)) {
                texts.add(text(ranking, item, best, labels));
            }
        }
        Buffer buffer = pool.take(BytesCodec.encodedTextByteSize(texts));
        MemorySegment bytes = buffer.segment();
        BytesCodec.encodeText(texts, bytes);
        Shape answered = leadingDims == 0 ? Shape.of(count) : Shape.of(ranking.items(), count);
        TensorSpec spec = new TensorSpec(scores.spec().name(), Datatype.BYTES, answered);
        pending.result(index, new OutputTensor(new Tensor(spec, bytes), false), buffer);
    }

    private static String text(Ranking ranking, int item, int index, List<String> labels) {
        String value;
        if (ranking.isReal()) {
            value = fixedPoint(ranking.real(item, index));
        } else if (ranking.isUnsignedLong()) {
            value = Long.toUnsignedString(ranking.integer(item, index));
        } else {
            value = Long.toString(ranking.integer(item, index));
        }
        String label = index < labels.size() ? labels.get(index) : "";
        return value + ":" + index + (label.isEmpty() ? "" : ":" + label);
    }

    /** As C's {@code %f} prints it: six decimals of the exact value, half to even. */
    static String fixedPoint(double value) {
        String sign = Double.doubleToRawLongBits(value) < 0 ? "-" : "";
        if (Double.isNaN(value)) {
            return sign + "nan";
        }
        if (Double.isInfinite(value)) {
            return sign + "inf";
        }
        return sign
                + new BigDecimal(Math.abs(value))
                        .setScale(FRACTION_DIGITS, RoundingMode.HALF_EVEN)
                        .toPlainString();
    }
}
