// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.bindings.SystemCallException;
import gatun.memory.regions.Mappings;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SharedFileTest {
    private static final String NAME = "gatun-shared-file-test";
    private static final long BYTE_SIZE = 3 << 20;

    private static FileChannel open(SharedFile file) throws IOException {
        return FileChannel.open(file.path(), StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    @Test
    void shouldBeOfZerosAndSeenByOtherMappings() throws IOException {
        try (SharedFile file = SharedFile.create(NAME, BYTE_SIZE);
                Arena arena = Arena.ofConfined();
                FileChannel channel = open(file)) {
            assertThat(file.byteSize()).isEqualTo(BYTE_SIZE);
            MemorySegment other = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTE_SIZE, arena);
            assertThat(other.mismatch(MemorySegment.ofArray(new byte[(int) BYTE_SIZE])))
                    .as("the first byte that is not 0")
                    .isEqualTo(-1);

            file.segment(70_000, 5).setString(0, "here");
            assertThat(other.getString(70_000)).isEqualTo("here");
            other.setString(BYTE_SIZE - 6, "there");
            assertThat(file.segment(BYTE_SIZE - 6, 6).getString(0)).isEqualTo("there");
        }
    }

    @Test
    void shouldBeOpenedByOtherProcesses() throws Exception {
        try (SharedFile file = SharedFile.create(NAME, BYTE_SIZE)) {
            file.segment(0, 7).setString(0, "shared");
            Process other = new ProcessBuilder("head", "-c", "6", file.path().toString()).start();
            assertThat(new String(other.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("shared");
            assertThat(other.waitFor()).isZero();
        }
    }

    @Test
    void shouldKeepItsSizeWhoeverTriesToChangeIt() throws IOException {
        try (SharedFile file = SharedFile.create(NAME, BYTE_SIZE);
                FileChannel channel = open(file)) {
            assertThatThrownBy(() -> channel.truncate(BYTE_SIZE - 1)).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(1), BYTE_SIZE))
                    .isInstanceOf(IOException.class);
            assertThatThrownBy(() -> Files.newOutputStream(file.path(), StandardOpenOption.TRUNCATE_EXISTING)
                            .close())
                    .isInstanceOf(IOException.class);
            assertThat(channel.size()).isEqualTo(BYTE_SIZE);
            file.segment(BYTE_SIZE - 1, 1).set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        }
    }

    @Test
    void shouldRefusePartsThatItDoesNotHave() {
        try (SharedFile file = SharedFile.create(NAME, BYTE_SIZE)) {
            assertThat(file.segment(0, BYTE_SIZE).byteSize()).isEqualTo(BYTE_SIZE);
            assertThat(file.segment(BYTE_SIZE, 0).byteSize()).isZero();
            long[][] parts = {{-1, 1}, {0, BYTE_SIZE + 1}, {BYTE_SIZE, 1}, {0, -1}, {8, Long.MAX_VALUE}};
            for (long[] part : parts) {
                assertThatThrownBy(() -> file.segment(part[0], part[1]))
                        .as("%s bytes at %s", part[1], part[0])
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
        }
    }

    @Test
    void shouldReadZerosAgainWhatWasDiscarded() throws IOException {
        try (SharedFile file = SharedFile.create(NAME, BYTE_SIZE);
                FileChannel channel = open(file)) {
            file.segment(0, BYTE_SIZE).fill((byte) 7);
            file.discard(1 << 20, 1 << 20);
            for (long offset : new long[] {(1 << 20) - 1, 1 << 20, (2 << 20) - 1, 2 << 20}) {
                ByteBuffer read = ByteBuffer.allocate(1);
                channel.read(read, offset);
                int expected = offset >> 20 == 1 ? 0 : 7;
                assertThat(read.get(0)).as("byte %s", offset).isEqualTo((byte) expected);
                assertThat(file.segment(offset, 1).get(ValueLayout.JAVA_BYTE, 0))
                        .as("byte %s as it is mapped here", offset)
                        .isEqualTo((byte) expected);
            }
        }
    }

    @Test
    void shouldLeaveNothingWhenItIsClosed() {
        SharedFile file = SharedFile.create(NAME, BYTE_SIZE);
        Path path = file.path();
        assertThat(path).exists();
        assertThat(Mappings.naming(NAME)).isEqualTo(1);
        file.close();
        assertThat(Mappings.naming(NAME)).isZero();
        assertThat(Mappings.descriptorsNaming(NAME)).isZero();
        assertThatThrownBy(() -> FileChannel.open(path)).isInstanceOf(IOException.class);
    }

    @Test
    void shouldLeaveNothingWhenItCannotBeMade() {
        assertThatThrownBy(() -> SharedFile.create(NAME, -1)).isInstanceOf(SystemCallException.class);
        assertThatThrownBy(() -> SharedFile.create(NAME, Long.MAX_VALUE)).isInstanceOf(SystemCallException.class);
        assertThat(Mappings.naming(NAME)).isZero();
        assertThat(Mappings.descriptorsNaming(NAME)).isZero();
    }
}
