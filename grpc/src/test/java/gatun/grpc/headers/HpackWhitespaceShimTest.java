// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import gatun.grpc.connection.RawClient;
import gatun.grpc.headers.HeaderBlockReader.RequestHead;
import gatun.grpc.headers.HpackStrings.HpackWhitespaceShim;
import io.grpc.Metadata;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.eclipse.jetty.http.compression.HuffmanEncoder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Metadata with blanks at its ends, which HTTP/2 forbids and gRPC's clients send. */
class HpackWhitespaceShimTest {
    private static final Metadata.Key<String> NOTE = Metadata.Key.of("note", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> OTHER = Metadata.Key.of("other", Metadata.ASCII_STRING_MARSHALLER);

    /** The place in the client's table of the field that came last. */
    private static final int NEWEST = 0x80 | 62;

    private final HeaderDecoder decoder = new HeaderDecoder(8192);

    private static ByteBuffer block(byte[]... fields) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        // :method POST and :scheme http from the static table.
        block.write(0x83);
        block.write(0x86);
        block.writeBytes(RawClient.literals(
                ":authority", "localhost", ":path", "/a/b", "te", "trailers", "content-type", "application/grpc"));
        for (byte[] field : fields) {
            block.writeBytes(field);
        }
        return ByteBuffer.wrap(block.toByteArray());
    }

    /** A field that is to be remembered, with its value in Huffman's code or as it is. */
    private static byte[] field(String name, String value, boolean compressed) {
        byte[] literal = RawClient.literals(name, compressed ? "" : value);
        literal[0] = 0x40;
        if (!compressed) {
            return literal;
        }
        int length = HuffmanEncoder.octetsNeeded(value);
        ByteBuffer field = ByteBuffer.allocate(literal.length + 2 + length);
        field.put(literal, 0, literal.length - 1);
        if (length < 127) {
            field.put((byte) (0x80 | length));
        } else {
            field.put((byte) 0xff).put((byte) ((length - 127) | 0x80)).put((byte) 0);
        }
        HuffmanEncoder.encode(field, value);
        return Arrays.copyOf(field.array(), field.position());
    }

    private String note(ByteBuffer block) throws Exception {
        RequestHead head = decoder.decode(block);
        assertThat(head.path()).isEqualTo("/a/b");
        return head.metadata().get(NOTE);
    }

    @ParameterizedTest
    @ValueSource(strings = {" x", "x ", "   x   ", " ", "  ", "a b", "", "x", " long and long ", " ~ "})
    void shouldGiveTheHandlerTheValueAsItWasSent(String value) throws Exception {
        assertThat(note(block(field("note", value, false)))).isEqualTo(value);
        assertThat(note(block(field("note", value, true)))).isEqualTo(value);
        assertThat(note(block(RawClient.literals("note", value)))).isEqualTo(value);
    }

    /** Each beginning and end that Huffman's code can have, with as much filling. */
    @Test
    void shouldFindTheBlankBesideEveryCharacter() throws Exception {
        for (char c = '!'; c <= '~'; c++) {
            for (String value :
                    new String[] {" " + c, c + " ", " " + c + c + " ", c + "x" + c, "0".repeat(70) + c + " "}) {
                assertThat(note(block(field("note", value, true)))).isEqualTo(value);
            }
        }
    }

    @Test
    void shouldReadAllFieldsOfABlock() throws Exception {
        RequestHead head = decoder.decode(
                block(field("other", " 1", true), field("between", "x", true), field("note", "2 ", false), new byte[] {
                    (byte) NEWEST
                }));

        assertThat(head.metadata().get(OTHER)).isEqualTo(" 1");
        assertThat(head.metadata().getAll(NOTE)).containsExactly("2 ", "2 ");
    }

    /** A table with room for two such fields and no byte more, as RFC 7541 counts them. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldKeepTheTableThatTheClientHas(boolean compressed) throws Exception {
        int size = 2 * ("note".length() + " 1 ".length() + 32);
        byte[] resize = {0x3f, (byte) (size - 31)};
        byte[] calls = block(field("note", " 1 ", compressed), field("note", " 2 ", compressed))
                .array();
        ByteBuffer first = ByteBuffer.allocate(resize.length + calls.length).put(resize);

        decoder.decode(first.put(calls).flip());

        assertThat(note(block(new byte[] {(byte) NEWEST}))).isEqualTo(" 2 ");
        assertThat(note(block(new byte[] {(byte) (NEWEST + 1)}))).isEqualTo(" 1 ");
    }

    @Test
    void shouldLeaveWhatIsMalformedToTheDecoder() {
        HpackWhitespaceShim blanks = new HpackWhitespaceShim();
        SplittableRandom random = new SplittableRandom(7);
        byte[] good = block(field("note", " 1 ", true), field("note", " x ", false), field("other", " ", true))
                .array();
        for (int round = 0; round < 20_000; round++) {
            byte[] bad = Arrays.copyOf(good, random.nextInt(1, good.length + 1));
            for (int change = random.nextInt(4); change > 0; change--) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt();
            }
            assertThatNoException().as(Arrays.toString(bad)).isThrownBy(() -> blanks.readable(ByteBuffer.wrap(bad)));
        }
    }
}
