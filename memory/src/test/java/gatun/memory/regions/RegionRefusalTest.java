// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import gatun.memory.regions.RegionRegistry.Access;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Refusals by the registry, and their texts. */
class RegionRefusalTest extends RegionFixture {
    @Test
    void shouldRefuseARegionThatItsOwnerTruncatedBefore() {
        try (ClientProcess client = ClientProcess.start(name, 8192)) {
            regions.register("r", client.key(), 0, 8192);
            assertThat(client.tell("truncate 4096")).isEqualTo("done");

            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.borrow("r", 0, 16, Access.READ))
                    .withMessageStartingWith("shared memory region 'r' was truncated")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
            regions.unregister("r");
            regions.register("r", client.key(), 0, 4096);
            regions.borrow("r", 0, 16, Access.READ).close();
        }
    }

    @Test
    void shouldRefuseASparseObjectThatTheFileSystemHasNoRoomFor() throws IOException {
        long usable = Files.getFileStore(Path.of("/dev/shm")).getTotalSpace();
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, usable + MIB)) {
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.register("r", name, 0, usable + MIB))
                    .withMessageContaining(
                            "there is no memory to fill its " + object.segment().byteSize() + " bytes")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
            assertThat(regions.statuses()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 8193",
        "1, 8192",
        "8192, 1",
        "0, 0",
        "9223372036854775807, 1",
        "-9223372036854775808, 1",
        "-1, 1",
        "-8192, 8192",
        "0, -1",
        "100, 9223372036854775807",
    })
    void shouldRefuseARangeBeyondTheObject(long offset, long byteSize) {
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 8192)) {
            assertThat(object.segment().byteSize()).isEqualTo(8192);
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.register("r", name, offset, byteSize))
                    .withMessage("failed to register shared memory region 'r': invalid args")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
            assertThat(regions.statuses()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "4096 | 0 | Invalid offset for shared memory region: 'r'",
                "9223372036854775807 | 1 | Invalid offset for shared memory region: 'r'",
                "-9223372036854775808 | 1 | Invalid offset for shared memory region: 'r'",
                "-1 | 1 | Invalid offset for shared memory region: 'r'",
                "1 | 4096 | Invalid offset + byte size for shared memory region: 'r'",
                "1 | 9223372036854775807 | Invalid offset + byte size for shared memory region: 'r'",
                "1 | -1 | Integer overflow detected: byte_size (18446744073709551615) + offset (1) exceeds maximum"
                        + " value"
                        + " (18446744073709551615) for region 'r'",
            })
    void shouldRefuseAWindowBeyondTheRegion(long offset, long byteSize, String text) {
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 4096)) {
            regions.register("r", object.key(), 0, 4096);
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.borrow("r", offset, byteSize, Access.READ))
                    .withMessage(text)
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "//",
                "/../etc/passwd",
                "/a/b",
                "a/b",
                "/..",
                "/.",
                "/a..b",
                "/proc/self/fd/3",
                "/proc/1/fd/../environ",
                "/proc/1/mem",
                "/triton_python_backend_shm_region_1",
                "/\0",
            })
    void shouldRefuseAKeyThatNamesAnythingElse(String key) {
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> regions.register("r", key, 0, 1))
                .withMessageStartingWith("cannot register shared memory region 'r'")
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "///"})
    void shouldSayThatAKeyIsReservedHoweverManySlashesItBeginsWith(String slashes) {
        String key = slashes + "triton_python_backend_shm_region_1";
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> regions.register("r", key, 0, 1))
                .withMessage("cannot register shared memory region 'r' with key '" + key
                        + "' as the key contains the reserved prefix 'triton_python_backend_shm_region_'");
    }

    @Test
    void shouldRefuseDescriptorsThatAreNoSealedMemfd() {
        long own = ProcessHandle.current().pid();
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> regions.register("r", "/proc/" + own + "/fd/0", 0, 1))
                .withMessageContaining("the client's own process");
        try (ClientProcess client = ClientProcess.start(name, 4096)) {
            String pid = Long.toString(
                    ProcessHandle.current().children().findFirst().orElseThrow().pid());
            assertThat(client.key()).isEqualTo(name);
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.register("r", "/proc/" + pid + "/fd/1", 0, 1))
                    .withMessageContaining("sealed with F_SEAL_SHRINK");
        }
    }

    @Test
    void shouldRefuseDescriptorsOfTheServersOwnThreads() throws IOException {
        // This thread's own number: others may end meanwhile.
        Path thread = Path.of("/proc/thread-self").toRealPath().getFileName();
        try (SharedMemoryObject own = SharedMemoryObject.sealed(4096)) {
            String descriptor = own.key().substring(own.key().lastIndexOf('/') + 1);
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.register("r", "/proc/" + thread + "/fd/" + descriptor, 0, 4096))
                    .withMessageEndingWith("expected a descriptor of the client's own process");
        }
    }

    @Test
    void shouldRefuseAMemfdThatIsNotSealed() {
        try (ClientProcess client = ClientProcess.start("unsealed", 4096)) {
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.register("r", client.key(), 0, 4096))
                    .withMessageEndingWith("expected a memfd of the server's own user, sealed with F_SEAL_SHRINK");
        }
    }

    @Test
    void shouldRefuseDescriptorsOfAProcessThatIsGone() {
        ClientProcess client = ClientProcess.start("sealed", 4096);
        client.close();
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> regions.register("r", client.key(), 0, 4096))
                .withMessage("Unable to open shared memory region: '" + client.key() + "'");
    }

    @Test
    void shouldHoldNoMoreRegionsThanItsLimit() {
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 4096)) {
            for (int i = 0; i < SharedRegions.MAX_REGIONS; i++) {
                regions.register("r" + i, object.key(), 0, 4096);
            }
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.register("more", object.key(), 0, 4096))
                    .withMessageContaining("already holds 1024 regions")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
            regions.unregisterAll();
            awaitUnmapped(0);
            regions.register("more", object.key(), 0, 4096);
        }
    }

    @Test
    void shouldRefuseABrokenRegionUntilItIsRegisteredAgain() {
        assumeTrue(regions.protection().startsWith("zero-copy"), regions.protection());
        try (ClientProcess client = ClientProcess.start(name, 8192)) {
            regions.register("r", client.key(), 0, 8192);
            try (RegionLease lease = regions.borrow("r", 0, 8192, Access.WRITE)) {
                assertThat(client.tell("truncate 0")).isEqualTo("done");
                lease.segment().fill((byte) 1);
                assertThatExceptionOfType(GatunException.class)
                        .isThrownBy(lease::settle)
                        .withMessageContaining("was truncated by its owner while it was in use")
                        .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
            }
            // The object is whole again, but what is mapped here are the zero pages of the guard.
            assertThat(client.tell("truncate 8192")).isEqualTo("done");
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.borrow("r", 0, 1, Access.READ))
                    .withMessageContaining("unregister it and register it again");
            regions.unregister("r");
            regions.register("r", client.key(), 0, 8192);
            regions.borrow("r", 0, 1, Access.READ).close();
        }
    }

    @Test
    void shouldSayWhatIsWrongWithNames() {
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> regions.register("r", "/gatun-is-not-there", 0, 1))
                .withMessage("Unable to open shared memory region: '/gatun-is-not-there'");
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> regions.status("r", SystemRegionStatus.class))
                .withMessage("Unable to find system shared memory region: 'r'")
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND));
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 4096)) {
            regions.register("r", object.key(), 0, 4096);
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.register("r", name, 0, 4096))
                    .withMessage("shared memory region 'r' already in manager")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.ALREADY_EXISTS));
            regions.unregister("unknown");
            regions.unregisterAll();
            assertThat(regions.statuses()).isEmpty();
        }
    }
}
