// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.RawMessage.RawAlignment;
import gatun.grpc.message.RepeatedField;
import gatun.grpc.message.WireReader;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.memory.threads.CooperativeCopy;
import gatun.memory.threads.CooperativeYield;
import gatun.runtime.InferenceRequest;
import gatun.tensorflow.serving.DataTypes;
import gatun.tensorflow.serving.grpc.PredictMessage.TensorField;
import gatun.wire.tensorflow.DataType;
import java.lang.foreign.MemorySegment;

/** A message's tensors, in order: in its memory where it suits engines, else in a pooled buffer. */
final class TensorReader {
    /** Bytes of tensors that stand for absent values of one message: a tiny one must not take the pool. */
    static final long MAX_FILLED_BYTES = 64L << 20;

    private final MemorySegment message;
    private final BufferPool pool;
    private final RawAlignment raw;
    private long filledBytes;

    TensorReader(MemorySegment message, BufferPool pool) {
        this.message = message;
        this.pool = pool;
        this.raw = new RawAlignment(message, pool);
    }

    /** The tensor that a field holds. Throws {@link GatunException} INVALID_ARGUMENT when it holds none. */
    Tensor read(TensorField field, InferenceRequest request) {
        DataType type = DataType.forNumber(field.dtype);
        if (type == null || type == DataType.DT_INVALID || field.shape.isEmpty()) {
            throw unreadable(field);
        }
        Datatype datatype = DataTypes.datatype(type);
        if (datatype == Datatype.INVALID) {
            throw GatunException.invalidArgument("input '" + field.name + "' is of type " + type
                    + ", which no model here takes; expected a type of" + " numbers, DT_BOOL or DT_STRING");
        }
        Shape shape = field.shape.get();
        long count = shape.elementCount();
        if (count < 0 || shape.byteSize(datatype) == Shape.OVERFLOW) {
            throw unreadable(field);
        }
        MemorySegment bytes;
        if (field.contentLength == 0) {
            bytes = typed(field, datatype, count, request);
        } else if (datatype == Datatype.BYTES) {
            bytes = strings(field, count, request);
        } else {
            if (field.contentLength != shape.byteSize(datatype)) {
                throw misfit(field, shape.byteSize(datatype) + " bytes", field.contentLength);
            }
            bytes = raw.aligned(field.contentStart, field.contentLength, datatype, request);
        }
        return new Tensor(new TensorSpec(field.name, datatype, shape), bytes);
    }

    private static GatunException unreadable(TensorField field) {
        return GatunException.invalidArgument("tensor parsing error: " + field.name);
    }

    private static GatunException misfit(TensorField field, String expected, long got) {
        return GatunException.invalidArgument("tensor parsing error: " + field.name + ": its shape "
                + field.shape.orElseThrow() + " asks for " + expected + ", got " + got);
    }

    private MemorySegment buffer(long byteSize, InferenceRequest request) {
        if (byteSize == 0) {
            return MemorySegment.NULL;
        }
        Buffer buffer = pool.take(byteSize);
        request.hold(buffer);
        return buffer.segment();
    }

    /** The typed field's values; the last stands for all that are missing, or zero. */
    private MemorySegment typed(TensorField field, Datatype datatype, long count, InferenceRequest request) {
        if (TensorTypes.isInOnePiece(datatype)) {
            return piece(field, datatype, count, request);
        }
        int number = TensorTypes.valueField(datatype);
        int wireType = TensorTypes.wireType(datatype);
        Datatype part = TensorTypes.part(datatype);
        int parts = datatype.isFixedSize() ? datatype.byteSize() / part.byteSize() : 1;
        TypedValues values = TypedValues.count(message, field, number, wireType);
        if (values.count() / parts > count || values.count() % parts != 0) {
            throw misfit(field, parts * count + " values", values.count());
        }
        if (values.isOnePiece()
                && values.count() == parts * count
                && datatype.isFixedSize()
                && wireType != WireReader.VARINT) {
            return raw.aligned(values.pieceStart(), values.pieceLength(), part, request);
        }
        long missing = count - values.count() / parts;
        long unit = datatype.isFixedSize() ? datatype.byteSize() : BytesCodec.LENGTH_BYTES + values.pieceLength();
        long present = datatype.isFixedSize()
                ? values.count() * part.byteSize()
                : values.stringBytes() + BytesCodec.LENGTH_BYTES * values.count();
        if (Math.multiplyHigh(missing, unit) != 0 || missing * unit < 0 || missing * unit + present < 0) {
            throw unreadable(field);
        }
        requireRoomFor(missing * unit, field);
        MemorySegment target = buffer(missing * unit + present, request);
        new RepeatedField(message, number, wireType, part).write(field.start, field.end, target, 0);
        if (missing > 0) {
            repeat(target, present, values.count() == 0 ? 0 : unit);
        }
        return target;
    }

    /** The tensor of values that are the bytes of one field; the last one counts, as of every field that is single. */
    private MemorySegment piece(TensorField field, Datatype datatype, long count, InferenceRequest request) {
        TypedValues values =
                TypedValues.count(message, field, TensorTypes.valueField(datatype), TensorTypes.wireType(datatype));
        int length = values.pieceLength();
        if (length > count) {
            throw misfit(field, count + " values", length);
        }
        if (length == count) {
            return raw.aligned(values.pieceStart(), length, datatype, request);
        }
        requireRoomFor(count - length, field);
        MemorySegment target = buffer(count, request);
        CooperativeCopy.copy(message, values.pieceStart(), target, 0, length);
        repeat(target, length, Math.min(1, length));
        return target;
    }

    private void requireRoomFor(long missingBytes, TensorField field) {
        filledBytes += missingBytes;
        if (missingBytes > MAX_FILLED_BYTES || filledBytes > MAX_FILLED_BYTES) {
            throw GatunException.invalidArgument("input '" + field.name + "' of shape "
                    + field.shape.orElseThrow() + " leaves out values of " + missingBytes
                    + " bytes; of one request at most "
                    + MAX_FILLED_BYTES + " are filled in. Send the values, best as tensor_content");
        }
    }

    /** Fills the room behind {@code present} by repeating the {@code unit} bytes before; zeros for none. */
    private static void repeat(MemorySegment target, long present, long unit) {
        if (unit == 0) {
            CooperativeCopy.clear(target.asSlice(present));
            return;
        }
        long start = present - unit;
        long done = present;
        while (done < target.byteSize()) {
            long step = Math.min(done - start, target.byteSize() - done);
            CooperativeCopy.copy(target, start, target, done, step);
            done += step;
        }
    }

    /** The strings of a tensor_content: all their lengths as numbers of as few bytes as they need, then the strings. */
    private MemorySegment strings(TensorField field, long count, InferenceRequest request) {
        int end = field.contentStart + field.contentLength;
        if (count > field.contentLength) {
            throw misfit(field, "the lengths of " + count + " strings, each a byte or more", field.contentLength);
        }
        WireReader lengths = new WireReader(message);
        CooperativeYield work = new CooperativeYield(CooperativeYield.STEP);
        lengths.window(field.contentStart, end);
        long total = 0;
        for (long i = 0; i < count; i++) {
            long length = lengths.varint();
            if (length < 0 || length > field.contentLength) {
                throw unreadable(field);
            }
            total += length;
            work.worked(BytesCodec.LENGTH_BYTES);
        }
        int first = lengths.position();
        if (total != end - first) {
            throw unreadable(field);
        }
        MemorySegment target = buffer(total + BytesCodec.LENGTH_BYTES * count, request);
        lengths.window(field.contentStart, end);
        long from = first;
        long to = 0;
        for (long i = 0; i < count; i++) {
            long length = lengths.varint();
            to = BytesCodec.put(target, to, message, from, length);
            from += length;
            work.worked(BytesCodec.LENGTH_BYTES + length);
        }
        return target;
    }

    /**
     * The count and place of the values in a typed field: in {@code pieces} packed runs, a number on its own counting
     * twice. {@code pieceStart} and {@code pieceLength} are those of the last piece, or last string, without its tag.
     */
    record TypedValues(long count, long pieces, int pieceStart, int pieceLength, long stringBytes) {
        /** Counts the values of one field. Throws INVALID_ARGUMENT when they are not well formed. */
        static TypedValues count(MemorySegment message, PredictMessage.TensorField field, int number, int wireType) {
            WireReader in = new WireReader(message);
            in.window(field.start, field.end);
            long count = 0;
            long pieces = 0;
            int pieceStart = 0;
            int pieceLength = 0;
            long stringBytes = 0;
            while (in.hasMore()) {
                int tag = in.tag();
                int type = WireReader.type(tag);
                boolean wanted = WireReader.field(tag) == number;
                if (wanted && type == WireReader.LENGTH_DELIMITED && wireType == WireReader.LENGTH_DELIMITED) {
                    pieceLength = in.length();
                    pieceStart = in.advance(pieceLength);
                    stringBytes += pieceLength;
                    count++;
                    pieces++;
                } else if (wanted && type == WireReader.LENGTH_DELIMITED) {
                    int lengthAt = in.position();
                    int length = in.length();
                    pieceStart = in.position();
                    pieceLength = length;
                    in.window(lengthAt, field.end);
                    count += RepeatedField.packedCount(in, wireType);
                    pieces++;
                } else {
                    count += wanted && type == wireType ? 1 : 0;
                    pieces += wanted && type == wireType ? 2 : 0;
                    in.skip(tag);
                }
            }
            return new TypedValues(count, pieces, pieceStart, pieceLength, stringBytes);
        }

        boolean isOnePiece() {
            return pieces == 1;
        }
    }
}
