// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GzipInputTest {
    private static final int BUFFER_SIZE = 512;

    @Test
    void shouldReadWhatTheJdkWrites() throws IOException {
        byte[] content = new byte[100_000];
        new Random(1).nextBytes(content);

        assertThat(unpack(pack(content))).isEqualTo(content);
    }

    @Test
    void shouldReadMillionsOfEmptyMembers() throws IOException {
        byte[] member = pack(new byte[0]);
        byte[] all = new byte[member.length * 1_000_000];
        for (int at = 0; at < all.length; at += member.length) {
            System.arraycopy(member, 0, all, at, member.length);
        }

        assertThat(unpack(all)).isEmpty();
    }

    @Test
    void shouldJoinMembers() throws IOException {
        assertThat(unpack(join(pack(bytes("ab")), pack(bytes("")), pack(bytes("c")))))
                .isEqualTo(bytes("abc"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"more", "\0", "\u001f"})
    void shouldPassOverWhatFollowsTheLastMember(String more) throws IOException {
        assertThat(unpack(join(pack(bytes("ab")), bytes(more)))).isEqualTo(bytes("ab"));
    }

    @Test
    void shouldPassOverTheOptionalPartsOfAHeader() throws IOException {
        byte[] plain = pack(bytes("ab"));
        byte[] head = Arrays.copyOf(plain, 10);
        head[3] = 0x1E; // a checksum of the header, an extra field, a name and a comment
        byte[] parts = {3, 0, 7, 7, 7, 'n', 0, 'c', 0, 5, 5};

        assertThat(unpack(join(head, parts, Arrays.copyOfRange(plain, 10, plain.length))))
                .isEqualTo(bytes("ab"));
    }

    @Test
    void shouldRefuseWhatIsCutShortOrDamaged() throws IOException {
        byte[] packed = pack(bytes("some content"));
        byte[] damaged = packed.clone();
        damaged[packed.length - 5] ^= 1; // the checksum's last byte

        assertThatThrownBy(() -> unpack(damaged)).isInstanceOf(ZipException.class);
        assertThatThrownBy(() -> unpack(bytes("{}"))).isInstanceOf(ZipException.class);
        for (int length = 2; length < packed.length; length++) {
            byte[] cut = Arrays.copyOf(packed, length);
            assertThatThrownBy(() -> unpack(cut)).isInstanceOf(EOFException.class);
        }
    }

    private static byte[] unpack(byte[] packed) throws IOException {
        try (GzipInput input = new GzipInput(new ByteArrayInputStream(packed), BUFFER_SIZE)) {
            return input.readAllBytes();
        }
    }

    private static byte[] pack(byte[] content) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream target = new GZIPOutputStream(packed)) {
            target.write(content);
        }
        return packed.toByteArray();
    }

    private static byte[] join(byte[]... parts) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.write(part);
        }
        return all.toByteArray();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
