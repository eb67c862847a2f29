// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import gatun.grpc.connection.RawClient;
import gatun.grpc.headers.HeaderBlockReader.RequestHead;
import gatun.grpc.headers.HeaderBlockReader.RequestHead.UnixSocketAuthority;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.eclipse.jetty.http.compression.HuffmanEncoder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Authorities that are no host, as clients of a Unix domain socket send them. */
class UnixSocketAuthorityTest {
    /** Would log each authority that it cannot read. Held, since a logger that nobody holds forgets its level. */
    private static final Logger READER = Logger.getLogger("org.eclipse.jetty");

    private static final String PATH = "/run/gatun/grpc.sock";

    /** The authority's name as the static table has it, in a literal that is to be remembered. */
    private static final int REMEMBERED = 0x41;

    /** The same in one that is not. */
    private static final int FORGOTTEN = 0x01;

    private final HeaderDecoder decoder = new HeaderDecoder(8192);

    @BeforeAll
    static void silence() {
        READER.setLevel(Level.OFF);
    }

    @AfterAll
    static void restore() {
        READER.setLevel(null);
    }

    private static ByteBuffer block(byte[] authority) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        // :method POST and :scheme http from the static table.
        block.write(0x83);
        block.write(0x86);
        block.writeBytes(authority);
        block.writeBytes(RawClient.literals(":path", "/a/b", "content-type", "application/grpc"));
        return ByteBuffer.wrap(block.toByteArray());
    }

    private static byte[] field(int name, String value) {
        byte[] literal = RawClient.literals("", value);
        literal[1] = (byte) name;
        return Arrays.copyOfRange(literal, 1, literal.length);
    }

    private static byte[] compressed(String value) {
        ByteBuffer field = ByteBuffer.allocate(1 + 3 + HuffmanEncoder.octetsNeeded(value));
        field.put((byte) REMEMBERED);
        int length = HuffmanEncoder.octetsNeeded(value);
        if (length < 127) {
            field.put((byte) (0x80 | length));
        } else {
            // 14 bits more, which is enough here.
            field.put((byte) 0xff).put((byte) (((length - 127) & 0x7f) | 0x80)).put((byte) ((length - 127) >> 7));
        }
        HuffmanEncoder.encode(field, value);
        return Arrays.copyOf(field.array(), field.position());
    }

    private void assertUnderstood(ByteBuffer block, String authority) throws Exception {
        RequestHead head = decoder.decode(block);
        assertThat(head.path()).isEqualTo("/a/b");
        assertThat(head.contentType()).isEqualTo("application/grpc");
        assertThat(head.authority()).isEqualTo(authority);
    }

    @ParameterizedTest
    @ValueSource(strings = {PATH, "unix:" + PATH, "%2Frun%2Fgrpc.sock:", "host:port", "a/b"})
    void shouldUnderstandACallWhoseAuthorityIsNoHost(String authority) throws Exception {
        assertUnderstood(block(field(FORGOTTEN, authority)), "");
        assertUnderstood(block(field(REMEMBERED, authority)), "");
        assertUnderstood(block(RawClient.literals(":authority", authority)), "");
    }

    @Test
    void shouldUnderstandALongOne() throws Exception {
        assertUnderstood(block(field(REMEMBERED, "/a".repeat(500))), "");
        assertUnderstood(block(compressed("/a".repeat(500))), "");
    }

    @Test
    void shouldUnderstandACompressedOne() throws Exception {
        assertUnderstood(block(compressed(PATH)), "");
        assertUnderstood(block(compressed("localhost:8001")), "localhost:8001");
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "localhost:8001", "127.0.0.1:8001", "[::1]:8001", "a_b", "%2Frun%2Fgrpc.sock"})
    void shouldLeaveAHostAsItIs(String authority) throws Exception {
        assertUnderstood(block(field(REMEMBERED, authority)), authority);
    }

    /** The next block names the first one's fields by where the table has them; others must not have moved. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldKeepTheTableThatTheClientHas(boolean compressed) throws Exception {
        assertUnderstood(block(compressed ? compressed(PATH) : field(REMEMBERED, PATH)), "");
        assertUnderstood(block(field(REMEMBERED, "localhost")), "localhost");

        assertUnderstood(block(new byte[] {(byte) (0x80 | 62)}), "localhost");
        assertUnderstood(block(new byte[] {(byte) (0x80 | 63)}), "");
    }

    /** A table with room for two names of that length and no byte more, as RFC 7541 counts them. */
    @Test
    void shouldCountAsManyBytesAsTheClientDoes() throws Exception {
        int size = 2 * (":authority".length() + PATH.length() + 32);
        assertUnderstood(
                ByteBuffer.wrap(join(
                        new byte[] {0x3f, (byte) (size - 31)},
                        block(field(REMEMBERED, "x".repeat(PATH.length()))).array())),
                "x".repeat(PATH.length()));
        assertUnderstood(block(field(REMEMBERED, PATH)), "");

        assertUnderstood(block(new byte[] {(byte) (0x80 | 63)}), "x".repeat(PATH.length()));
    }

    private static byte[] join(byte[] first, byte[] second) {
        return ByteBuffer.allocate(first.length + second.length)
                .put(first)
                .put(second)
                .array();
    }

    @Test
    void shouldLeaveWhatIsMalformedToTheDecoder() {
        UnixSocketAuthority authorities = new UnixSocketAuthority();
        SplittableRandom random = new SplittableRandom(7);
        byte[] good = block(field(REMEMBERED, PATH)).array();
        for (int round = 0; round < 20_000; round++) {
            byte[] bad = Arrays.copyOf(good, random.nextInt(1, good.length + 1));
            for (int change = random.nextInt(4); change > 0; change--) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt();
            }
            assertThatNoException()
                    .as("block %s", Arrays.toString(bad))
                    .isThrownBy(() -> authorities.readable(ByteBuffer.wrap(bad)));
        }
    }
}
