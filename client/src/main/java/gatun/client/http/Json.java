// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** JSON as the protocol has it: NaN and the infinities stand there as names. Safe for any thread. */
final class Json {
    private static final int GREATEST_DEPTH = 100;
    /** A BYTES tensor's element may be a picture. */
    private static final int GREATEST_STRING = 1 << 30;

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .disable(JsonWriteFeature.WRITE_NAN_AS_STRINGS)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(GREATEST_DEPTH)
                    .maxStringLength(GREATEST_STRING)
                    .build())
            .build();

    private Json() {}

    static JsonParser parser(byte[] json) throws IOException {
        return FACTORY.createParser(json);
    }

    /** Reads {@code json} from {@code offset} on, which is where byte 0 is for the parser. */
    static JsonParser parser(MemorySegment json, long offset) throws IOException {
        return FACTORY.createParser(new SegmentStream(json.asSlice(offset)));
    }

    static JsonGenerator generator(OutputStream target) throws IOException {
        return FACTORY.createGenerator(target).disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
    }

    /** Memory as a stream. Borrows it. Used by one thread. */
    static final class SegmentStream extends InputStream {
        private final MemorySegment bytes;
        private long at;

        SegmentStream(MemorySegment bytes) {
            this.bytes = bytes;
        }

        @Override
        public int read() {
            return at == bytes.byteSize() ? -1 : bytes.get(ValueLayout.JAVA_BYTE, at++) & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            int count = (int) Math.min(length, bytes.byteSize() - at);
            if (count == 0) {
                return length == 0 ? 0 : -1;
            }
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, at, target, offset, count);
            at += count;
            return count;
        }
    }
}
