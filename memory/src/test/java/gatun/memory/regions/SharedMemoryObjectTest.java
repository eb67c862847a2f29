// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SharedMemoryObjectTest {
    private final String name = "/gatun-object-" + ProcessHandle.current().pid() + "-" + System.nanoTime();

    @Test
    void shouldRemoveItsNameAndItsMemoryWhenItIsClosed() {
        MemorySegment segment;
        long address;
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 10_000)) {
            segment = object.segment();
            address = segment.address();
            assertThat(segment.byteSize()).isEqualTo(10_000);
            assertThat(Path.of("/dev/shm" + name)).exists();
        }
        assertThat(Files.exists(Path.of("/dev/shm" + name))).isFalse();
        assertThat(Mappings.covers(address)).isFalse();
        assertThat(Mappings.descriptorsNaming(name)).isZero();
        assertThatIllegalStateException().isThrownBy(() -> segment.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void shouldSayThatANameIsTakenAndLeaveTheOtherObjectAlone() {
        try (SharedMemoryObject first = SharedMemoryObject.posix(name, 16)) {
            first.segment().fill((byte) 6);
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> SharedMemoryObject.posix(name, 16))
                    .withMessageContaining("File exists")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.ALREADY_EXISTS));
            assertThat(Path.of("/dev/shm" + name)).exists();
            assertThat(first.segment().get(ValueLayout.JAVA_BYTE, 15)).isEqualTo((byte) 6);
        }
    }

    @Test
    void shouldLeaveNothingBehindWhenItCannotBeMade() {
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> SharedMemoryObject.posix(name, 0))
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
        assertThat(Files.exists(Path.of("/dev/shm" + name))).isFalse();
        assertThatExceptionOfType(GatunException.class).isThrownBy(() -> SharedMemoryObject.sealed(0));
        assertThat(Mappings.descriptorsNaming("/memfd:gatun")).isZero();
    }

    @Test
    void shouldNotShrinkWhenItIsSealed() {
        try (SharedMemoryObject object = SharedMemoryObject.sealed(8192)) {
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> object.resize(4096))
                    .withMessageContaining("Operation not permitted");
            object.resize(16_384);
        }
    }

    @Test
    void shouldLoseItsNameBeforeItsMemory() throws Exception {
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 64)) {
            object.unlink();
            object.unlink();
            assertThat(Files.exists(Path.of("/dev/shm" + name))).isFalse();
            object.segment().fill((byte) 1);
            // Another one of that name is not its own to remove.
            Files.write(Path.of("/dev/shm" + name), new byte[1]);
        }
        assertThat(Files.deleteIfExists(Path.of("/dev/shm" + name))).isTrue();
    }

    @Test
    void shouldNotMindThatSomebodyElseRemovedItsName() throws Exception {
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 64)) {
            Files.delete(Path.of("/dev/shm" + object.key()));
        }
    }
}
