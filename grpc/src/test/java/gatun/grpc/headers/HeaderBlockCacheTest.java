// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.grpc.headers.HeaderBlockReader.RequestHead;
import io.grpc.Metadata;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Header blocks that clients send again and again, by references to the tables of HPACK. */
class HeaderBlockCacheTest {
    private static final Metadata.Key<String> USER_AGENT =
            Metadata.Key.of("user-agent", Metadata.ASCII_STRING_MARSHALLER);

    // Names of the static table, in literals that enter the table.
    private static final int AUTHORITY = 0x41;
    private static final int PATH = 0x44;
    private static final int CONTENT_TYPE = 0x5f;
    private static final int AGENT = 0x7a;

    /** Method and scheme, then authority, path, content type and user agent as {@link #rememberFields} left them. */
    private static final byte[] REFERENCES = bytes(0x83, 0x86, 0xc1, 0xc0, 0xbf, 0xbe);

    private final HeaderDecoder decoder = new HeaderDecoder(8192);

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    private static void literal(ByteArrayOutputStream block, int name, String value) {
        block.write(name);
        block.write(value.length());
        block.writeBytes(value.getBytes(StandardCharsets.US_ASCII));
    }

    @BeforeEach
    void rememberFields() throws Exception {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.writeBytes(bytes(0x83, 0x86));
        literal(block, AUTHORITY, "h:1");
        literal(block, PATH, "/a/b");
        literal(block, CONTENT_TYPE, "application/grpc");
        literal(block, AGENT, "x/1");
        assertThat(decoder.decode(ByteBuffer.wrap(block.toByteArray())).path()).isEqualTo("/a/b");
    }

    private RequestHead decode(byte[] block) throws Exception {
        ByteBuffer bytes = ByteBuffer.wrap(block);
        RequestHead head = decoder.decode(bytes);
        assertThat(bytes.hasRemaining()).isFalse();
        return head;
    }

    private void rememberAnotherPath() throws Exception {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.writeBytes(bytes(0x83, 0x86, 0xc1));
        literal(block, PATH, "/c/d");
        block.writeBytes(bytes(0xc0, 0xbf));
        assertThat(decode(block.toByteArray()).path()).isEqualTo("/c/d");
    }

    @Test
    void shouldMeanTheSameEachTime() throws Exception {
        for (int i = 0; i < 3; i++) {
            RequestHead head = decode(REFERENCES);

            assertThat(head.method()).isEqualTo("POST");
            assertThat(head.authority()).isEqualTo("h:1");
            assertThat(head.path()).isEqualTo("/a/b");
            assertThat(head.contentType()).isEqualTo("application/grpc");
            assertThat(head.metadata().get(USER_AGENT)).isEqualTo("x/1");
            assertThat(head.metadata().keys()).containsExactlyInAnyOrder("content-type", "user-agent");
        }
    }

    @Test
    void shouldMeanTheSameWithFieldsThatDoNotEnterTheTable() throws Exception {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.writeBytes(bytes(0x83, 0x86, 0xc1));
        literal(block, 0x04, "/e/f");
        block.writeBytes(bytes(0xbf, 0x10, 1, 'a', 1, 'b'));

        for (int i = 0; i < 3; i++) {
            RequestHead head = decode(block.toByteArray());

            assertThat(head.path()).isEqualTo("/e/f");
            assertThat(head.metadata().get(Metadata.Key.of("a", Metadata.ASCII_STRING_MARSHALLER)))
                    .isEqualTo("b");
        }
        assertThat(decode(REFERENCES).path()).isEqualTo("/a/b");
    }

    @Test
    void shouldGiveEachHandlerItsOwnMetadata() throws Exception {
        RequestHead first = decode(REFERENCES);
        first.metadataCopy().discardAll(USER_AGENT);
        RequestHead second = decode(REFERENCES);
        second.metadataCopy().put(USER_AGENT, "y/2");

        assertThat(second).isSameAs(first);
        assertThat(decode(REFERENCES).metadataCopy().getAll(USER_AGENT)).containsExactly("x/1");
    }

    @Test
    void shouldMeanSomethingElseAfterTheTableHasChanged() throws Exception {
        decode(REFERENCES);
        decode(REFERENCES);
        rememberAnotherPath();

        // One more entry has come before the others: the references mean two paths and no authority.
        assertThatExceptionOfType(HeaderDecoder.MalformedHeaders.class).isThrownBy(() -> decode(REFERENCES));
        assertThat(decode(bytes(0x83, 0x86, 0xc2, 0xbe, 0xc0, 0xbf)).path()).isEqualTo("/c/d");
    }

    @Test
    void shouldMeanSomethingElseAfterABlockThatNobodyWants() throws Exception {
        decode(REFERENCES);
        ByteArrayOutputStream trailer = new ByteArrayOutputStream();
        literal(trailer, AGENT, "z/3");
        decoder.decodeAndForget(ByteBuffer.wrap(trailer.toByteArray()));

        RequestHead head = decode(REFERENCES);

        assertThat(head.authority()).isEmpty();
        assertThat(head.metadata().getAll(USER_AGENT)).containsExactly("x/1", "z/3");
    }
}
