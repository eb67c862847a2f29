// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.RawMessage.RawAlignment;
import gatun.grpc.message.TextCache;
import gatun.grpc.message.WireReader;
import gatun.grpc.message.WireReader.LimitedReader;
import gatun.memory.tensor.Shape;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;

/** Reads PredictRequest messages. Locates tensor data without a copy, within counted memory. Thread-safe. */
final class PredictDecoder {
    // Field numbers of PredictRequest.
    private static final int MODEL_SPEC = 1;
    private static final int INPUTS = 2;
    private static final int OUTPUT_FILTER = 3;

    // Field numbers of an entry of a map.
    private static final int KEY = 1;
    private static final int VALUE = 2;

    // Field numbers of TensorShapeProto.
    private static final int DIM = 2;
    private static final int UNKNOWN_RANK = 3;
    private static final int DIM_SIZE = 1;

    /** As many as TensorFlow's tensors can have. */
    private static final int MAX_RANK = 254;

    private static final int USUAL_RANK = 8;

    private final RequestLimits limits;
    private final HeapBudget heap;
    private final TextCache texts = new TextCache();
    private final ServableReader servables = new ServableReader(texts);

    /** Takes memory beyond that of usual messages from {@code heap}. */
    PredictDecoder(RequestLimits limits, HeapBudget heap) {
        this.limits = limits;
        this.heap = heap;
    }

    /**
     * Reads a message; the caller sets the hold. Throws INVALID_ARGUMENT when malformed, RESOURCE_EXHAUSTED beyond a
     * limit, UNAVAILABLE when other requests have taken the heap.
     */
    PredictMessage decode(MemorySegment bytes) {
        LimitedReader in = new LimitedReader(bytes, limits, heap);
        try {
            PredictMessage message = decode(in, bytes);
            message.reserve(in.takeReservation());
            return message;
        } finally {
            in.takeReservation().close();
        }
    }

    private PredictMessage decode(LimitedReader in, MemorySegment bytes) {
        PredictMessage message = new PredictMessage(bytes, ServableReader.NOTHING);
        while (in.hasMore()) {
            int tag = in.tag();
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                in.skip(tag);
                continue;
            }
            int length = in.length();
            int start = in.position();
            int limit = in.limit();
            switch (WireReader.field(tag)) {
                case MODEL_SPEC -> {
                    in.window(start, start + length);
                    message.servable = servables.read(in, message.servable);
                    message.hasServable = true;
                }
                case INPUTS -> {
                    in.window(start, start + length);
                    in.countInput();
                    message.add(input(in));
                }
                case OUTPUT_FILTER -> {
                    in.countOutput();
                    message.outputFilter.add(in.text(texts, start, length, "an output's name"));
                }
                default -> {
                    // A field without meaning here, or of a newer protocol.
                }
            }
            in.window(start + length, limit);
        }
        return message;
    }

    /** An entry of the map of inputs that fills the reader's window. */
    private PredictMessage.TensorField input(LimitedReader in) {
        PredictMessage.TensorField input = new PredictMessage.TensorField();
        while (in.hasMore()) {
            int tag = in.tag();
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                in.skip(tag);
                continue;
            }
            int length = in.length();
            int start = in.position();
            int limit = in.limit();
            switch (WireReader.field(tag)) {
                case KEY -> input.name = in.text(texts, start, length, "an input's name");
                case VALUE -> {
                    in.window(start, start + length);
                    tensor(in, input);
                }
                default -> {
                    // A field of a newer protocol.
                }
            }
            in.window(start + length, limit);
        }
        return input;
    }

    private static void tensor(LimitedReader in, PredictMessage.TensorField input) {
        input.start = in.position();
        input.end = in.limit();
        while (in.hasMore()) {
            int tag = in.tag();
            if (tag == (TensorTypes.DTYPE << 3 | WireReader.VARINT)) {
                input.dtype = (int) in.varint();
            } else if (tag == (TensorTypes.TENSOR_SHAPE << 3 | WireReader.LENGTH_DELIMITED)) {
                int length = in.length();
                int start = in.position();
                int limit = in.limit();
                in.window(start, start + length);
                input.shape = shape(in);
                in.window(start + length, limit);
            } else if (tag == (TensorTypes.TENSOR_CONTENT << 3 | WireReader.LENGTH_DELIMITED)) {
                input.contentLength = in.length();
                input.contentStart = in.advance(input.contentLength);
            } else {
                in.skip(tag);
            }
        }
    }

    /** A TensorShapeProto that fills the reader's window; empty when no tensor can have it. */
    private static Optional<Shape> shape(LimitedReader in) {
        long[] dims = new long[USUAL_RANK];
        int rank = 0;
        boolean possible = true;
        while (in.hasMore()) {
            int tag = in.tag();
            if (tag == (DIM << 3 | WireReader.LENGTH_DELIMITED)) {
                int length = in.length();
                int start = in.position();
                in.countDimension();
                if (rank == dims.length) {
                    dims = Arrays.copyOf(dims, 2 * rank);
                }
                long dim = in.numberIn(start, length, DIM_SIZE);
                possible &= dim >= 0 && rank < MAX_RANK;
                if (possible) {
                    dims[rank++] = dim;
                }
            } else if (tag == (UNKNOWN_RANK << 3 | WireReader.VARINT)) {
                possible &= in.varint() == 0;
            } else {
                in.skip(tag);
            }
        }
        return possible ? Optional.of(Shape.ofFirst(dims, rank)) : Optional.empty();
    }

    /**
     * The offset in a buffer that aligns the data of the message's first tensor; 0 when that is too far from the start
     * to be seen, or not as the engine wants it. {@code start}: the first bytes, between position and limit.
     */
    static int landingOffset(ByteBuffer start) {
        int end = start.limit();
        int position = start.position();
        int depth = 0;
        while (position < end) {
            int tag = start.get(position++);
            if (tag < 0) {
                return 0;
            }
            long value = 0;
            int shift = 0;
            int next;
            do {
                if (position >= end || shift > Integer.SIZE) {
                    return 0;
                }
                next = start.get(position++);
                value |= (long) (next & 0x7f) << shift;
                shift += 7;
            } while (next < 0);
            if (WireReader.type(tag) == WireReader.VARINT) {
                continue;
            }
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                return 0;
            }
            int field = WireReader.field(tag);
            if (depth == 2 && TensorTypes.liesAsElements(field)) {
                return (start.position() - position) & (RawAlignment.BEST - 1);
            }
            if ((depth == 0 && field == INPUTS) || (depth == 1 && field == VALUE)) {
                depth++;
            } else {
                position = (int) Math.min(end, position + value);
            }
        }
        return 0;
    }
}
