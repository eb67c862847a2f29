// SPDX-License-Identifier: Apache-2.0
package gatun.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.google.protobuf.CodedOutputStream;
import gatun.wire.WireCursor.MemoryCursor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WireCursorTest {
    private static final class Cursor extends MemoryCursor {
        Cursor(byte... bytes) {
            super(MemorySegment.ofArray(bytes), 0, bytes.length);
        }

        long position() {
            return at;
        }

        long limit() {
            return end;
        }

        long length() {
            return readLength();
        }

        @Override
        public IllegalArgumentException malformed(String reason) {
            return new IllegalArgumentException(reason + " at " + at);
        }
    }

    private interface Writing {
        void write(CodedOutputStream out) throws IOException;
    }

    private static byte[] message(Writing writing) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        writing.write(out);
        out.flush();
        return bytes.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 127, 128, 300, Integer.MAX_VALUE, Long.MAX_VALUE, -1, Long.MIN_VALUE})
    void shouldReadWhatProtobufWrites(long number) throws IOException {
        Cursor in = new Cursor(message(out -> {
            out.writeUInt64(1, number);
            out.writeFixed32(2, (int) number);
            out.writeFixed64(536_870_911, number);
        }));
        assertThat(in.tag()).isEqualTo((1 << 3) | WireCursor.VARINT);
        assertThat(in.varint()).isEqualTo(number);
        assertThat(in.tag()).isEqualTo((2 << 3) | WireCursor.FIXED32);
        assertThat(in.fixed32()).isEqualTo((int) number);
        int last = in.tag();
        assertThat(WireCursor.field(last)).isEqualTo(536_870_911);
        assertThat(WireCursor.type(last)).isEqualTo(WireCursor.FIXED64);
        assertThat(in.fixed64()).isEqualTo(number);
        assertThat(in.hasMore()).isFalse();
    }

    @Test
    void shouldReadANestedMessageNoFurtherThanItsEnd() throws IOException {
        byte[] inner = message(out -> {
            out.writeUInt32(1, 5);
            out.writeUInt32(2, 6);
        });
        Cursor in = new Cursor(message(out -> {
            out.writeByteArray(1, inner);
            out.writeUInt32(3, 7);
        }));
        assertThat(in.tag()).isEqualTo(WireCursor.delimited(1));
        long outer = in.limit();
        long end = in.position() + 1 + in.length();
        in.window(end - inner.length, end);
        in.skip(in.tag());
        in.skip(in.tag());
        assertThat(in.hasMore()).isFalse();
        assertThatIllegalArgumentException().isThrownBy(in::varint).withMessage("a number that is cut off at 6");
        in.window(end, outer);
        assertThat(WireCursor.field(in.tag())).isEqualTo(3);
        assertThat(in.varint()).isEqualTo(7);
        assertThat(in.hasMore()).isFalse();
    }

    @Test
    void shouldRefuseWhatGoesBeyondItsEnd() {
        refused(new byte[] {(byte) 0x80}, "a number that is cut off at 1");
        refused(new byte[] {8}, "a number that is cut off at 1");
        refused(new byte[] {10, 5, 0}, "a field of 5 bytes where 1 are left at 2");
        refused(new byte[] {13, 0, 0, 0}, "a value of 4 bytes where 3 are left at 1");
        refused(new byte[] {9, 0}, "a value of 8 bytes where 1 are left at 1");
        byte[] huge = {10, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1};
        refused(huge, "a field of 18446744073709551615 bytes where 0 are left at 11");
    }

    @Test
    void shouldRefuseWhatIsNoField() {
        refused(new byte[] {0}, "a field number that cannot be at 1");
        refused(new byte[] {-8, -1, -1, -1, 31}, "a field number that cannot be at 5");
        refused(new byte[] {14}, "wire type 6 at 1");
        refused(new byte[] {12}, "wire type 4 at 1");
        byte[] endless = new byte[12];
        Arrays.fill(endless, (byte) -1);
        refused(endless, "a number of more than 64 bits at 10");
    }

    @Test
    void shouldPassOverGroupsThatEndAsTheyBegin() {
        Cursor in = new Cursor((byte) 11, (byte) 19, (byte) 8, (byte) 1, (byte) 20, (byte) 12, (byte) 8, (byte) 3);
        in.skip(in.tag());
        assertThat(in.position()).isEqualTo(6);
        refused(new byte[] {11, 20}, "a group that ends as another at 2");
        byte[] deep = new byte[40];
        Arrays.fill(deep, (byte) 11);
        refused(deep, "groups nested deeper than 32 at 33");
    }

    private static void refused(byte[] bytes, String text) {
        Cursor in = new Cursor(bytes);
        assertThatIllegalArgumentException().isThrownBy(() -> in.skip(in.tag())).withMessage(text);
    }
}
