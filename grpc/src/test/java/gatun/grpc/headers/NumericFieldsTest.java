// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.grpc.headers.HeaderBlockReader.RequestHead;
import io.grpc.Metadata;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.compression.HuffmanEncoder;
import org.junit.jupiter.api.Test;

/** Texts in the place of numbers, of which Jetty's decoder would make a format. */
class NumericFieldsTest {
    private static final String FORMAT = "%999999999d";
    private static final int CONTENT_LENGTH = 28;
    private static final int STATUS = 8;

    /** Where the dynamic table begins: the field that came last. */
    private static final int LATEST = 62;

    private static final int METHOD_POST = 0x83;
    private static final int SCHEME_HTTP = 0x86;
    private static final int PATH = 4;
    private static final int WITH_INDEXING = 0x40;
    private static final int HUFFMAN = 0x80;

    private final HeaderDecoder decoder = new HeaderDecoder(8192);
    private final ByteArrayOutputStream block = new ByteArrayOutputStream();

    private void plain(String text) {
        block.write(text.length());
        block.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    private void compressed(String text) {
        ByteBuffer bytes = ByteBuffer.allocate(256);
        HuffmanEncoder.encode(bytes, text);
        block.write(HUFFMAN | bytes.position());
        block.write(bytes.array(), 0, bytes.position());
    }

    private void indexed(int nameIndex) {
        block.write(WITH_INDEXING | nameIndex);
    }

    private void beginRequest() {
        block.write(METHOD_POST);
        block.write(SCHEME_HTTP);
        block.write(PATH); // without a place in the table
        plain("/a/b");
    }

    private RequestHead decode() throws Exception {
        ByteBuffer bytes = ByteBuffer.wrap(block.toByteArray());
        block.reset();
        return decoder.decode(bytes);
    }

    private void assertRefused() {
        assertThatExceptionOfType(ConnectionError.class)
                .isThrownBy(this::decode)
                .withMessage("a header of a number has another value: expected digits only")
                .extracting(ConnectionError::error)
                .isEqualTo(Http2Error.PROTOCOL_ERROR);
    }

    @Test
    void shouldRefuseAFormatAsAContentLength() {
        beginRequest();
        indexed(CONTENT_LENGTH);
        plain(FORMAT);

        assertRefused();
    }

    @Test
    void shouldRefuseACompressedFormatAsAStatus() {
        beginRequest();
        indexed(STATUS);
        compressed(FORMAT);

        assertRefused();
    }

    @Test
    void shouldRefuseItWhereTheNameIsSpeltOut() {
        beginRequest();
        indexed(0);
        plain("content-length");
        plain(FORMAT);
        assertRefused();

        beginRequest();
        indexed(0);
        compressed(":status");
        plain(FORMAT);
        assertRefused();
    }

    @Test
    void shouldRefuseItWhereTheNameIsInTheClientsTable() throws Exception {
        beginRequest();
        indexed(CONTENT_LENGTH);
        plain("5");
        assertThat(decode().path()).isEqualTo("/a/b");
        beginRequest();
        indexed(LATEST);
        plain(FORMAT);

        assertRefused();
    }

    @Test
    void shouldLetMetadataHoldWhatItLikes() throws Exception {
        beginRequest();
        indexed(0);
        plain("tag");
        plain("a%20b");
        assertThat(decode().path()).isEqualTo("/a/b");
        beginRequest();
        indexed(LATEST);
        compressed(FORMAT);

        assertThat(decode().metadata().get(Metadata.Key.of("tag", Metadata.ASCII_STRING_MARSHALLER)))
                .isEqualTo(FORMAT);
    }
}
