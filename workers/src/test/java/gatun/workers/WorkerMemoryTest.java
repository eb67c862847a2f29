// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WorkerMemoryTest {
    private static final int MIB = 1 << 20;

    private final WorkerMemory memory = new WorkerMemory("m_0", MIB);

    @AfterEach
    void close() {
        memory.close();
        assertThat(mappings("memfd:gatun-re")).as("memory that is left").isZero();
    }

    /** How many mappings of this process are of a file whose name has {@code text}. */
    private static long mappings(String text) {
        try {
            return Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .filter(line -> line.contains(text))
                    .count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static MemorySegment text(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String read(Path file, long offset, int length) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer bytes = ByteBuffer.allocate(length);
            assertThat(channel.read(bytes, offset)).isEqualTo(length);
            return new String(bytes.array(), StandardCharsets.UTF_8);
        }
    }

    private static void write(Path file, long offset, String text) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), offset);
        }
    }

    @Test
    void shouldPlaceWhereTheWorkerReads() throws IOException {
        long first = memory.place(text("first"));
        long second = memory.place(text("second"));

        assertThat(first % 64).isZero();
        assertThat(second % 64).isZero();
        assertThat(read(memory.requestFile().path(), first, 5)).isEqualTo("first");
        assertThat(read(memory.requestFile().path(), second, 6)).isEqualTo("second");
        assertThat(memory.placedCount()).isEqualTo(2);
    }

    @Test
    void shouldTakeABlockBackOnce() {
        long first = memory.place(text("first"));
        long second = memory.place(text("second"));

        memory.takeBack(first);
        memory.takeBack(first);
        memory.takeBack(12_345);
        assertThat(memory.placedCount()).isEqualTo(1);
        assertThat(memory.place(text("third")))
                .as("the block is used again")
                .isEqualTo(first)
                .isNotEqualTo(second);
    }

    @Test
    void shouldSayWhatToDoWhenThereIsNoRoom() {
        long all = memory.place(MemorySegment.ofArray(new byte[MIB]));
        assertThatThrownBy(() -> memory.place(text("more")))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
                .hasMessage(
                        "Failed to increase the shared memory pool size of model instance 'm_0': its 1048576 bytes for"
                                + " requests have no room for 4 more; its model still holds earlier tensors, or"
                                + " memory-byte-size is too small");
        assertThat(memory.placedCount()).isEqualTo(1);
        memory.takeBack(all);
        assertThatThrownBy(() -> memory.place(MemorySegment.ofArray(new byte[MIB + 1])))
                .as("more than there ever is")
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
        memory.place(text("more"));
        assertThat(memory.placedCount()).isEqualTo(1);
    }

    @Test
    void shouldReadWhatTheWorkerWrites() throws IOException {
        write(memory.responseFile().path(), 4096, "response");
        MemorySegment response = memory.response(4096, 8);
        assertThat(new String(response.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8))
                .isEqualTo("response");
    }

    @Test
    void shouldGiveABlockBackOnceWhenItsHoldIsClosed() {
        Hold first = memory.hold(4096, 100);
        Hold second = memory.hold(8192, 50);
        assertThat(memory.drainReturned()).isEmpty();

        first.close();
        second.close();
        assertThat(memory.drainReturned()).containsExactly(4096L, 8192L);
        assertThat(memory.drainReturned()).isEmpty();

        memory.giveBack(4096, 7);
        assertThat(memory.drainReturned()).containsExactly(4096L);
    }

    @Test
    void shouldSayOnceThatMuchHasComeBack() {
        List<String> said = new ArrayList<>();
        memory.onReturned(() -> said.add("much"));
        memory.giveBack(0, MIB / 64 - 1);
        assertThat(said).isEmpty();
        memory.giveBack(64, 1);
        memory.giveBack(128, 1);
        assertThat(said).containsExactly("much");
        assertThat(memory.drainReturned()).hasSize(3);
        memory.giveBack(0, MIB / 64);
        assertThat(said).hasSize(2);
    }

    @Test
    void shouldKeepAFewSmallBlocksThatHaveComeBackToItself() {
        for (int i = 0; i < 31; i++) {
            memory.giveBack(64L * i, 64);
            assertThat(memory.drainReturnedMany()).isEmpty();
        }
        memory.giveBack(64L * 31, 64);
        assertThat(memory.drainReturnedMany()).as("many").hasSize(32);
        assertThat(memory.drainReturnedMany()).isEmpty();

        memory.giveBack(0, MIB / 64 - 1);
        assertThat(memory.drainReturnedMany()).isEmpty();
        memory.giveBack(64, 1);
        assertThat(memory.drainReturnedMany()).as("much").containsExactly(0L, 64L);
    }

    @Test
    void shouldEndWithTheProcessButForResponsesThatAreHeld() throws IOException {
        write(memory.responseFile().path(), 0, "still here");
        MemorySegment response = memory.response(0, 10);
        Hold first = memory.hold(0, 10);
        Hold second = memory.hold(0, 10);
        memory.place(text("lost"));

        memory.close();
        memory.close();
        assertThat(memory.placedCount()).isZero();
        assertThat(mappings("memfd:gatun-requests")).isZero();
        first.close();
        assertThat(mappings("memfd:gatun-responses")).isEqualTo(1);
        assertThat(new String(response.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8))
                .isEqualTo("still here");
        second.close();
        assertThat(mappings("memfd:gatun-responses")).isZero();
    }

    @Test
    void shouldStayMappedForWhoUsesItThoughTheProcessEnds() throws IOException {
        write(memory.responseFile().path(), 64, "late");
        Hold use = memory.use();
        memory.close();
        MemorySegment response = memory.response(64, 4);
        Hold hold = memory.hold(64, 4);
        use.close();
        assertThat(new String(response.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8))
                .isEqualTo("late");
        hold.close();
        assertThat(mappings("memfd:gatun-responses")).isZero();
        assertThatThrownBy(memory::use)
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
                .hasMessage("the process of instance 'm_0' has ended");
    }

    @Test
    void shouldPlaceNothingForAProcessThatHasEnded() {
        memory.close();
        assertThatThrownBy(() -> memory.place(text("late")))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
                .hasMessage("the process of instance 'm_0' has ended");
        assertThat(memory.placedCount()).isZero();
    }

    @Test
    void shouldRefuseBlocksThatTheResponsesDoNotHave() {
        long byteSize = memory.responseFile().byteSize();
        assertThat(memory.response(byteSize - 8, 8).byteSize()).isEqualTo(8);
        long[][] blocks = {{-1, 1}, {byteSize - 8, 9}, {byteSize, 1}, {0, -1}, {Long.MAX_VALUE, Long.MAX_VALUE}, {8, -8}
        };
        for (long[] block : blocks) {
            assertThatThrownBy(() -> memory.response(block[0], block[1]))
                    .as("%s bytes at %s", block[1], block[0])
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                    .hasMessage("the process of instance 'm_0' names memory that it does not have");
        }
    }
}
