// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class FrameTest {
    /** Length and kind. */
    private static final int HEAD_BYTES = 5;

    private final FrameWriter writer = new FrameWriter();

    /** A whole frame as it goes to a process. */
    private byte[] frame(int kind, Consumer<FrameWriter> body) {
        writer.begin(kind);
        body.accept(writer);
        ByteBuffer frame = writer.end();
        return Arrays.copyOfRange(frame.array(), frame.arrayOffset(), frame.arrayOffset() + frame.limit());
    }

    private static FrameReader reader(byte[] frame, int end) {
        return new FrameReader(ByteBuffer.wrap(frame, HEAD_BYTES, end - HEAD_BYTES));
    }

    private FrameReader written(Consumer<FrameWriter> body) {
        byte[] frame = frame(1, body);
        return reader(frame, frame.length);
    }

    @Test
    void shouldReserveNothingForItemsThatDoNotFollow() {
        byte[] claimed = new byte[8 << 20];
        Arrays.fill(claimed, (byte) 0xFF);
        ByteBuffer body =
                ByteBuffer.wrap(claimed).order(ByteOrder.LITTLE_ENDIAN).putInt(0, claimed.length - Integer.BYTES);
        FrameReader frame = new FrameReader(body);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        assertThatThrownBy(() -> frame.list(1, frame::text)).isInstanceOf(GatunException.class);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(1 << 20);
    }

    @Test
    void shouldBeLittleEndianWithItsLengthInFront() {
        assertThat(frame(0xFE, frame -> frame.u8(0xFF)
                        .u32(0x01020304)
                        .u64(0x1112131415161718L)
                        .text("é")))
                .isEqualTo(new byte[] {
                    20,
                    0,
                    0,
                    0,
                    (byte) 0xFE,
                    (byte) 0xFF,
                    4,
                    3,
                    2,
                    1,
                    0x18,
                    0x17,
                    0x16,
                    0x15,
                    0x14,
                    0x13,
                    0x12,
                    0x11,
                    2,
                    0,
                    0,
                    0,
                    (byte) 0xC3,
                    (byte) 0xA9
                });
    }

    @Test
    void shouldReadWhatWasWritten() {
        FrameReader read = written(frame -> frame.u8(0)
                .u8(255)
                .u32(Integer.MIN_VALUE)
                .u32(-1)
                .u64(Long.MIN_VALUE)
                .u64(Long.MAX_VALUE)
                .f64(-0.0)
                .f64(Double.MIN_VALUE)
                .f64(Double.NEGATIVE_INFINITY)
                .text("")
                .text("naïve 模型 🐍")
                .u32(2)
                .text("raw"));

        assertThat(read.u8()).isZero();
        assertThat(read.u8()).isEqualTo(255);
        assertThat(read.u32()).isEqualTo(Integer.MIN_VALUE);
        assertThat(read.u32()).isEqualTo(-1);
        assertThat(read.u64()).isEqualTo(Long.MIN_VALUE);
        assertThat(read.u64()).isEqualTo(Long.MAX_VALUE);
        assertThat(read.f64()).isEqualTo(-0.0);
        assertThat(read.f64()).isEqualTo(Double.MIN_VALUE);
        assertThat(read.f64()).isEqualTo(Double.NEGATIVE_INFINITY);
        assertThat(read.text()).isEmpty();
        assertThat(read.text()).isEqualTo("naïve 模型 🐍");
        assertThat(read.count(1)).isEqualTo(2);
        assertThat(read.bytes()).isEqualTo("raw".getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(read::u8).as("nothing is left").isInstanceOf(GatunException.class);
    }

    @Test
    void shouldKeepTheBitsOfANumberThatIsNone() {
        long bits = 0x7FF8_0000_DEAD_BEEFL;
        FrameReader read = written(frame -> frame.f64(Double.longBitsToDouble(bits)));
        assertThat(Double.doubleToRawLongBits(read.f64())).isEqualTo(bits);
    }

    @Test
    void shouldGrowForLongFramesAndBeginTheNextAnew() {
        String text = "0123456789".repeat(100_000);
        FrameReader read = written(frame -> {
            for (int i = 0; i < 10_000; i++) {
                frame.u64(i);
            }
            frame.text(text).u8(7);
        });
        for (int i = 0; i < 10_000; i++) {
            assertThat(read.u64()).isEqualTo(i);
        }
        assertThat(read.text()).isEqualTo(text);
        assertThat(read.u8()).isEqualTo(7);

        assertThat(frame(2, frame -> frame.u8(3))).containsExactly(2, 0, 0, 0, 2, 3);
    }

    private static void readAll(FrameReader frame) {
        frame.u8();
        frame.u32();
        frame.u64();
        frame.f64();
        frame.text();
    }

    @Test
    void shouldRefuseAFrameThatEndsTooEarlyWhereverItIsCut() {
        byte[] whole = frame(1, frame -> frame.u8(1).u32(2).u64(3).f64(4).text("five"));
        readAll(reader(whole, whole.length));
        for (int end = HEAD_BYTES; end < whole.length; end++) {
            FrameReader cut = reader(whole, end);
            assertThatThrownBy(() -> readAll(cut))
                    .as("cut after %s bytes", end)
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                    .hasMessage("a worker sent a frame that ends too early");
        }
    }

    @Test
    void shouldRefuseCountsThatAreLargerThanTheFrame() {
        assertThat(written(frame -> frame.u32(2).u64(0)).count(4))
                .as("two items of four bytes")
                .isEqualTo(2);
        for (int count : new int[] {3, Integer.MAX_VALUE, Integer.MIN_VALUE, -1}) {
            FrameReader read = written(frame -> frame.u32(count).u64(0));
            assertThatThrownBy(() -> read.count(4)).as("%s items", count).isInstanceOf(GatunException.class);
        }
        assertThatThrownBy(() -> written(frame -> frame.u32(9).u64(0)).bytes()).isInstanceOf(GatunException.class);
        assertThatThrownBy(() -> written(frame -> frame.u32(-1).u64(0)).text()).isInstanceOf(GatunException.class);
    }
}
