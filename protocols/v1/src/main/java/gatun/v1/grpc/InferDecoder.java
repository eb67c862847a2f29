// SPDX-License-Identifier: Apache-2.0
package gatun.v1.grpc;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import gatun.grpc.message.RawMessage;
import gatun.grpc.message.TextCache;
import gatun.grpc.message.WireReader;
import gatun.grpc.message.WireReader.LimitedReader;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.wire.v1.InferRequestHeader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Reads InferRequest messages. Tensor data is not copied, only located. Safe for any thread. */
final class InferDecoder {
    // Field numbers of InferRequest.
    private static final int MODEL_NAME = 1;
    private static final int MODEL_VERSION = 2;
    private static final int META_DATA = 3;
    static final int RAW_INPUT = 4;

    // Field numbers of InferRequestHeader.
    private static final int INPUT = 2;
    private static final int OUTPUT = 3;

    /** The heap that a byte of a header takes at most: the shortest field of all becomes a list of its own. */
    private static final int HEADER_HEAP = 64;

    /** The most pieces that a header may come in: each is put together anew with those before. */
    private static final int MAX_HEADER_PIECES = 16;

    private final RequestLimits limits;
    private final HeapBudget heap;
    private final TextCache texts = new TextCache();

    /** Takes memory beyond that of usual messages from {@code heap}. */
    InferDecoder(RequestLimits limits, HeapBudget heap) {
        this.limits = limits;
        this.heap = heap;
    }

    /**
     * Reads a message, which owns nothing yet. Throws INVALID_ARGUMENT when malformed, RESOURCE_EXHAUSTED beyond a
     * limit, UNAVAILABLE when other requests have taken the heap.
     */
    V1InferMessage decode(MemorySegment bytes) {
        LimitedReader in = new LimitedReader(bytes, limits, heap);
        try {
            V1InferMessage message = decode(in, bytes);
            message.reserve(in.takeReservation());
            return message;
        } finally {
            in.takeReservation().close();
        }
    }

    private V1InferMessage decode(LimitedReader in, MemorySegment bytes) {
        V1InferMessage message = new V1InferMessage(bytes, RawMessage.NOTHING);
        int pieces = 0;
        while (in.hasMore()) {
            int tag = in.tag();
            if (WireReader.field(tag) == MODEL_VERSION && WireReader.type(tag) == WireReader.VARINT) {
                message.modelVersion = in.varint();
                continue;
            }
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                in.skip(tag);
                continue;
            }
            int length = in.length();
            int start = in.advance(length);
            switch (WireReader.field(tag)) {
                case MODEL_NAME -> message.modelName = in.text(texts, start, length, "the model's name");
                case META_DATA -> {
                    if (++pieces > MAX_HEADER_PIECES) {
                        throw in.malformed("meta_data in more than " + MAX_HEADER_PIECES + " pieces");
                    }
                    countHeader(in, start, length);
                    message.header = merged(in, message.header, bytes.asSlice(start, length));
                }
                case RAW_INPUT -> {
                    in.countRange();
                    message.addRaw(start, length);
                }
                default -> {
                    // A field of another protocol version: passed over already.
                }
            }
        }
        return message;
    }

    /** Counts the objects that parsing a header makes, before it is parsed. */
    private static void countHeader(LimitedReader in, int start, int length) {
        in.countText(length, "the request's meta_data");
        in.countHeap((long) HEADER_HEAP * length);
        int limit = in.limit();
        in.window(start, start + length);
        while (in.hasMore()) {
            int tag = in.tag();
            switch (WireReader.field(tag)) {
                case INPUT -> in.countInput();
                case OUTPUT -> in.countOutput();
                default -> {
                    // A number.
                }
            }
            in.skip(tag);
        }
        in.window(start + length, limit);
    }

    private static InferRequestHeader merged(WireReader in, InferRequestHeader before, MemorySegment more) {
        try {
            return before.toBuilder()
                    .mergeFrom(CodedInputStream.newInstance(more.asByteBuffer()))
                    .build();
        } catch (InvalidProtocolBufferException e) {
            throw in.malformed("meta_data that is no InferRequestHeader: " + e.getMessage());
        } catch (IOException e) {
            throw new AssertionError("memory is read", e);
        }
    }
}
