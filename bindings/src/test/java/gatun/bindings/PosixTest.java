// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import gatun.bindings.Posix.FileStatus;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class PosixTest {
    private static final long PAGE = Posix.pageSize();
    private static final int CREATE = Posix.O_RDWR | Posix.O_CREAT | Posix.O_EXCL;
    private static final int READ_WRITE = Posix.PROT_READ | Posix.PROT_WRITE;

    private final String key = "/gatun-posix-test-" + ProcessHandle.current().pid() + "-" + System.nanoTime();

    @AfterEach
    void removeTheObject() {
        try {
            Posix.shmUnlink(key);
        } catch (SystemCallException e) {
            assertThat(e.is(Errno.ENOENT)).as(e.getMessage()).isTrue();
        }
    }

    @Test
    void shouldShareBytesThroughTwoMappingsOfOneObject() {
        try (Descriptor file = Posix.shmOpen(key, CREATE, 0600)) {
            Posix.ftruncate(file, 2 * PAGE);
            long writable = Posix.map(2 * PAGE, READ_WRITE, Posix.MAP_SHARED, file, 0);
            long secondPage = Posix.map(PAGE, Posix.PROT_READ, Posix.MAP_SHARED, file, PAGE);
            try {
                NativeMemory.segment(writable, 2 * PAGE).set(ValueLayout.JAVA_LONG, PAGE + 8, 4711L);
                assertThat(NativeMemory.segment(secondPage, PAGE).get(ValueLayout.JAVA_LONG, 8))
                        .isEqualTo(4711L);
            } finally {
                Posix.munmap(writable, 2 * PAGE);
                Posix.munmap(secondPage, PAGE);
            }
        }
    }

    @Test
    void shouldKeepTheMappingAfterItsDescriptorIsClosed() {
        long address;
        try (Descriptor file = Posix.shmOpen(key, CREATE, 0600)) {
            Posix.ftruncate(file, PAGE);
            address = Posix.map(PAGE, READ_WRITE, Posix.MAP_SHARED | Posix.MAP_POPULATE, file, 0);
        }
        MemorySegment bytes = NativeMemory.segment(address, PAGE);
        bytes.set(ValueLayout.JAVA_INT, 0, 7);
        assertThat(bytes.get(ValueLayout.JAVA_INT, 0)).isEqualTo(7);
        Posix.munmap(address, PAGE);
    }

    private static String identity(Descriptor file) {
        FileStatus status = Posix.fstat(file);
        return status.device() + " " + status.inode();
    }

    @Test
    void shouldTellSizeOwnerAndIdentityOfAnObject() {
        try (Descriptor file = Posix.shmOpen(key, CREATE, 0640);
                Descriptor again = Posix.shmOpen(key, Posix.O_RDONLY, 0);
                Descriptor other = Posix.memfdCreate("other", Posix.MFD_CLOEXEC)) {
            Posix.ftruncate(file, 12_345);
            FileStatus status = Posix.fstat(file);
            assertThat(status.byteSize()).isEqualTo(12_345);
            assertThat(status.uid()).isEqualTo(Posix.effectiveUid());
            assertThat(status.isRegularFile()).isTrue();
            assertThat(status.mode() & 0777).isEqualTo(0640);
            assertThat(identity(again)).isEqualTo(identity(file));
            assertThat(identity(other)).isNotEqualTo(identity(file));
        }
    }

    @Test
    void shouldSayWhichCallFailedOnWhatAndWhy() {
        assertThatExceptionOfType(SystemCallException.class)
                .isThrownBy(() -> Posix.shmOpen("/gatun-no-such-object", Posix.O_RDONLY, 0))
                .withMessage("shm_open /gatun-no-such-object: No such file or directory (ENOENT)")
                .satisfies(e -> {
                    assertThat(e.call()).isEqualTo("shm_open");
                    assertThat(e.subject()).isEqualTo("/gatun-no-such-object");
                    assertThat(e.is(Errno.ENOENT)).isTrue();
                    assertThat(e.is(Errno.EACCES)).isFalse();
                });
    }

    @Test
    void shouldNameEveryErrorOfTheSystem() {
        assertThat(new SystemCallException("open", "x", 35)).hasMessageContaining("(EDEADLK)");
        assertThat(new SystemCallException("open", "x", 4000)).hasMessage("open x: unknown error (errno 4000)");
        for (Errno errno : Errno.values()) {
            assertThat(Posix.errorText(errno.code())).endsWith("(" + errno.name() + ")");
        }
    }

    @Test
    void shouldRefuseToCreateAnObjectTwice() {
        try (Descriptor first = Posix.shmOpen(key, CREATE, 0600)) {
            assertThat(first.number()).isNotNegative();
            assertThatExceptionOfType(SystemCallException.class)
                    .isThrownBy(() -> Posix.shmOpen(key, CREATE, 0600))
                    .satisfies(e -> assertThat(e.is(Errno.EEXIST)).isTrue());
        }
    }

    @Test
    void shouldReportAFullFileSystemWhenMemoryIsReserved() {
        try (Descriptor file = Posix.shmOpen(key, CREATE, 0600)) {
            assertThatExceptionOfType(SystemCallException.class)
                    .isThrownBy(() -> Posix.posixFallocate(file, 0, 1L << 46))
                    .satisfies(e -> assertThat(e.is(Errno.ENOSPC) || e.is(Errno.EFBIG))
                            .as(e.getMessage())
                            .isTrue());
            Posix.posixFallocate(file, 0, 3 * PAGE);
            assertThat(Posix.fstat(file).byteSize()).isEqualTo(3 * PAGE);
        }
    }

    @Test
    void shouldKeepASealedObjectFromShrinking() {
        try (Descriptor file = Posix.memfdCreate("frames", Posix.MFD_CLOEXEC | Posix.MFD_ALLOW_SEALING)) {
            Posix.ftruncate(file, PAGE);
            assertThat(Posix.seals(file)).isZero();
            Posix.addSeals(file, Posix.F_SEAL_SHRINK);
            assertThat(Posix.seals(file)).isEqualTo(Posix.F_SEAL_SHRINK);
            assertThatExceptionOfType(SystemCallException.class)
                    .isThrownBy(() -> Posix.ftruncate(file, 0))
                    .withMessageContaining("memfd frames to 0 bytes: Operation not permitted (EPERM)");
            Posix.ftruncate(file, 2 * PAGE);
        }
    }

    @Test
    void shouldSeeTheSealsOfAnObjectOpenedThroughProc() {
        try (Descriptor file = Posix.memfdCreate("frames", Posix.MFD_CLOEXEC | Posix.MFD_ALLOW_SEALING)) {
            Posix.addSeals(file, Posix.F_SEAL_SHRINK | Posix.F_SEAL_SEAL);
            String path = "/proc/" + ProcessHandle.current().pid() + "/fd/" + file.number();
            try (Descriptor opened = Posix.open(path, Posix.O_RDWR | Posix.O_CLOEXEC)) {
                assertThat(Posix.seals(opened)).isEqualTo(Posix.F_SEAL_SHRINK | Posix.F_SEAL_SEAL);
            }
        }
    }

    @Test
    void shouldFindNoUsableSealOnAFileThatCannotBeSealed(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("plain"), "text", StandardCharsets.UTF_8);
        try (Descriptor opened = Posix.open(file.toString(), Posix.O_RDONLY | Posix.O_CLOEXEC)) {
            assertThat(Posix.seals(opened) & Posix.F_SEAL_SHRINK).isZero();
        }
    }

    @Test
    void shouldFailClearlyWhenADescriptorIsUsedAfterClose() {
        Descriptor file = Posix.memfdCreate("gone", Posix.MFD_CLOEXEC);
        Posix.ftruncate(file, PAGE);
        file.close();
        file.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> Posix.fstat(file))
                .withMessageContaining("memfd gone was used after it was closed");
    }

    @Test
    void shouldReportAMappingThatCannotBe() {
        try (Descriptor file = Posix.memfdCreate("odd", Posix.MFD_CLOEXEC)) {
            Posix.ftruncate(file, PAGE);
            assertThatExceptionOfType(SystemCallException.class)
                    .isThrownBy(() -> Posix.map(PAGE, Posix.PROT_READ, Posix.MAP_SHARED, file, 1))
                    .satisfies(e -> assertThat(e.is(Errno.EINVAL)).isTrue());
        }
    }

    @Test
    void shouldProtectAndPopulateAnonymousPages() {
        long address = Posix.mapAnonymous(2 * PAGE, READ_WRITE);
        try {
            Posix.madvise(address, PAGE, Posix.MADV_POPULATE_WRITE);
            NativeMemory.segment(address, PAGE).set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
            Posix.mprotect(address + PAGE, PAGE, Posix.PROT_NONE);
            // A page that nobody may touch cannot be brought in either.
            assertThatExceptionOfType(SystemCallException.class)
                    .isThrownBy(() -> Posix.madvise(address + PAGE, PAGE, Posix.MADV_POPULATE_READ));
        } finally {
            Posix.munmap(address, 2 * PAGE);
        }
    }

    @Test
    void shouldKnowTheProcess() {
        assertThat(Posix.pageSize()).isPositive().isEqualTo(Long.highestOneBit(Posix.pageSize()));
        assertThat(Path.of("/proc/self")).satisfies(self -> assertThat(Files.getAttribute(self, "unix:uid"))
                .isEqualTo(Posix.effectiveUid()));
        assertThat(Posix.uid()).isNotNegative();
        assertThat(Posix.errorText(2)).isEqualTo("No such file or directory (ENOENT)");
    }
}
