package gatun.grpc.v1;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import gatun.grpc.message.RawMessage;
import gatun.grpc.message.TextCache;
import gatun.grpc.message.WireReader;
import gatun.memory.GatunException;
import gatun.protocol.v1.InferRequestHeader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.CharacterCodingException;

/** Reads InferRequest messages. Data of tensors is not copied, only found. Safe for any thread. */
final class InferDecoder {
    // Field numbers of InferRequest.
    private static final int MODEL_NAME = 1;
    private static final int MODEL_VERSION = 2;
    private static final int META_DATA = 3;
    static final int RAW_INPUT = 4;

    private final TextCache texts = new TextCache();

    /**
     * Reads a message, which owns nothing yet.
     *
     * @throws GatunException INVALID_ARGUMENT when the bytes are no such message
     */
    InferMessage decode(MemorySegment bytes) {
        InferMessage message = new InferMessage(bytes, RawMessage.NOTHING);
        WireReader in = new WireReader(bytes);
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
                case MODEL_NAME -> message.modelName = text(in, bytes, start, length);
                case META_DATA -> message.header = merged(in, message.header, bytes.asSlice(start, length));
                case RAW_INPUT -> message.addRaw(start, length);
                default -> {
                    // A field of another protocol version: passed over already.
                }
            }
        }
        return message;
    }

    /** What a field that comes again adds to what it said before. */
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

    private String text(WireReader in, MemorySegment bytes, int start, int length) {
        try {
            return texts.text(bytes, start, length);
        } catch (CharacterCodingException e) {
            throw in.malformed("a string that is not UTF-8");
        }
    }
}
