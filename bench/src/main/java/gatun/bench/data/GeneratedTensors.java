// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Makes tensors without a file. The same settings and seed make the same tensors.
 *
 * @param random whether elements are random: numbers with a fraction from 0 to 1, integers from 0 to 99, letters;
 *     otherwise they are zero, and strings are of blanks
 * @param text the value of every string; empty for made-up ones
 * @param stringLength how long made-up strings are, in bytes
 * @param seed of the random elements
 */
public record GeneratedTensors(boolean random, Optional<String> text, int stringLength, long seed) {
    private static final long ALIGNMENT = 64;
    private static final int INTEGER_BOUND = 100;
    private static final int LETTERS = 26;
    private static final double ONE = 0x1.0p-53;

    /** A tensor of {@code spec}, whose shape is fixed, in memory of {@code arena}. */
    public Tensor tensor(TensorSpec spec, Arena arena) {
        SplittableRandom source = new SplittableRandom(seed * 31 + spec.name().hashCode());
        long count = spec.shape().elementCount();
        if (spec.datatype() == Datatype.BYTES) {
            return new Tensor(spec, strings(count, source, arena));
        }
        long byteSize = spec.shape().byteSize(spec.datatype());
        if (count < 0 || byteSize == Shape.OVERFLOW) {
            throw new DataException("input '" + spec.name() + "' " + spec.datatype() + " " + spec.shape()
                    + ": expected a shape whose tensor has less than 2^63 bytes");
        }
        MemorySegment bytes = arena.allocate(byteSize, ALIGNMENT);
        if (random) {
            fill(bytes, spec.datatype(), count, source);
        }
        return new Tensor(spec, bytes);
    }

    private static void fill(MemorySegment bytes, Datatype datatype, long count, SplittableRandom source) {
        if (Elements.isFloatingPoint(datatype)) {
            for (long i = 0; i < count; i++) {
                Elements.put(bytes, datatype, i, (source.nextLong() >>> 11) * ONE);
            }
            return;
        }
        int bound = datatype == Datatype.BOOL ? 2 : INTEGER_BOUND;
        for (long i = 0; i < count; i++) {
            Elements.putBits(bytes, datatype, i, source.nextInt(bound));
        }
    }

    private MemorySegment strings(long count, SplittableRandom source, Arena arena) {
        byte[] element =
                text.map(given -> given.getBytes(StandardCharsets.UTF_8)).orElseGet(this::blanks);
        MemorySegment bytes =
                arena.allocate(Math.multiplyExact(count, BytesCodec.LENGTH_BYTES + (long) element.length), ALIGNMENT);
        long offset = 0;
        for (long i = 0; i < count; i++) {
            if (random && text.isEmpty()) {
                for (int j = 0; j < element.length; j++) {
                    element[j] = (byte) ('a' + source.nextInt(LETTERS));
                }
            }
            offset = BytesCodec.put(bytes, offset, element);
        }
        return bytes;
    }

    private byte[] blanks() {
        byte[] blanks = new byte[stringLength];
        Arrays.fill(blanks, (byte) ' ');
        return blanks;
    }
}
