// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The place of one tensor in the region of {@link SharedTensors}, which let one thread at a time use it. */
final class TensorSlot {
    final long offset;
    final long byteSize;
    /** The tensor that lies there now: for an output, as the last response described it. */
    TensorSpec spec;
    /** How much of the room an input fills; only strings leave some. */
    long usedBytes;

    private @Nullable Tensor tensor;

    TensorSlot(TensorSpec spec, long offset, long byteSize, long usedBytes) {
        this.spec = spec;
        this.offset = offset;
        this.byteSize = byteSize;
        this.usedBytes = usedBytes;
    }

    String name() {
        return spec.name();
    }

    boolean isOfStrings() {
        return spec.datatype() == Datatype.BYTES;
    }

    /** Notes this output's spec. Throws {@link MalformedResponseException} when it is missing or too large. */
    void answer(List<TensorSpec> written, String model) {
        for (int i = 0; i < written.size(); i++) {
            TensorSpec said = written.get(i);
            if (said.name().equals(spec.name())) {
                long size = said.shape().byteSize(said.datatype());
                boolean known = said.datatype().isFixedSize() && said.shape().isFixed();
                if (known ? size < 0 || size > byteSize : said.datatype() != Datatype.BYTES) {
                    throw new MalformedResponseException("the server wrote output '" + said.name() + "' "
                            + said.datatype()
                            + " " + said.shape() + " of model '" + model + "' to a region where it has room for "
                            + byteSize + " bytes: expected a tensor of that size at most");
                }
                if (!spec.equals(said)) {
                    spec = said;
                }
                return;
            }
        }
        throw new MalformedResponseException("the server answered without having written output '" + spec.name()
                + "' of model '" + model + "' to its region: it seems not to know the shared-memory extension");
    }

    Tensor tensor(MemorySegment region) {
        Tensor known = tensor;
        if (known == null || !known.spec().equals(spec) || isOfStrings()) {
            known = new Tensor(spec, trimmed(region.asSlice(offset, byteSize)));
            tensor = known;
        }
        return known;
    }

    /** The tensor's bytes where the processor can read them: in place, or copied. */
    MemorySegment content(SharedRegion region) {
        long size = isOfStrings() ? byteSize : spec.shape().byteSize(spec.datatype());
        return trimmed(region.view(offset, size));
    }

    /** The exception for values of a type that does not fit the datatype. */
    IllegalArgumentException refusal(String kind, String given) {
        return new IllegalArgumentException(
                kind + " " + this + " was given a " + given + ": expected " + arraysFor(spec.datatype()));
    }

    void requireCount(long count) {
        if (count != spec.shape().elementCount()) {
            throw new IllegalArgumentException("input " + this + " was given " + count + " values: expected "
                    + spec.shape().elementCount());
        }
    }

    /** Refuses bytes that cannot be this input's: of another size, or no strings as they lie in memory. */
    void requireContent(MemorySegment bytes) {
        if (isOfStrings()) {
            if (!(BytesCodec.check(bytes, spec.shape().elementCount()) instanceof BytesCodec.Check.Complete)) {
                throw new IllegalArgumentException("input " + this + " was given " + bytes.byteSize()
                        + " bytes that are not its strings: expected "
                        + spec.shape().elementCount() + " times a length of 4 bytes and as many bytes");
            }
        } else if (bytes.byteSize() != byteSize) {
            String how = bytes.byteSize() < byteSize ? "too small" : "too large";
            throw new IllegalArgumentException("input " + this + ": the segment is " + how + ", it has "
                    + bytes.byteSize() + " bytes: expected " + byteSize);
        }
    }

    /** Copies an input to its room; true if its size changed. Throws {@link IllegalArgumentException}. */
    boolean fill(SharedRegion region, MemorySegment bytes) {
        if (bytes.byteSize() > byteSize) {
            throw new IllegalArgumentException("input " + this + " was given " + bytes.byteSize()
                    + " bytes, and its room is too small: " + byteSize + " bytes; open it with more");
        }
        region.write(offset, bytes);
        boolean changed = usedBytes != bytes.byteSize();
        usedBytes = bytes.byteSize();
        return changed;
    }

    private MemorySegment trimmed(MemorySegment room) {
        if (!isOfStrings()) {
            return room.asSlice(0, spec.shape().byteSize(spec.datatype()));
        }
        long end = 0;
        for (long i = spec.shape().elementCount(); i > 0; i--) {
            end += BytesCodec.LENGTH_BYTES + BytesCodec.elementByteSize(room, end);
        }
        return room.asSlice(0, end);
    }

    private static String arraysFor(Datatype datatype) {
        return switch (datatype) {
            case FP32 -> "a float[]";
            case FP64 -> "a double[]";
            case INT32, UINT32 -> "an int[]";
            case INT64, UINT64 -> "a long[]";
            case FP16, BF16 -> "a float[] or a short[]";
            case INT16, UINT16 -> "a short[]";
            case INT8, UINT8 -> "a byte[]";
            case BOOL -> "a boolean[]";
            case BYTES -> "a String[]";
            case COMPLEX64, COMPLEX128, QINT8, QUINT8, QINT16, QUINT16, QINT32, INT4, UINT4, FP8_E5M2, FP8_E4M3FN ->
                "a MemorySegment";
            case INVALID -> "a datatype of the protocol";
        };
    }

    @Override
    public String toString() {
        return spec.toString();
    }
}
