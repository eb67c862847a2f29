// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import gatun.bindings.Posix;
import gatun.memory.regions.RegionRegistry.Access;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Whose objects the registry takes, and what becomes of those whose client has ended. */
class RegionOwnershipTest extends RegionFixture {
    private static final int NOBODY = 65534;

    private void giveAway(String permissions) throws IOException {
        assumeTrue(Posix.effectiveUid() == 0, "only root may give an object to another user");
        Path object = Path.of("/dev/shm" + name);
        Files.setPosixFilePermissions(object, PosixFilePermissions.fromString(permissions));
        Files.setAttribute(object, "unix:uid", NOBODY);
    }

    /** Looks twice: an abandoned region is taken back when it was seen so both times. */
    private void look() {
        regions.takeBackAbandoned();
        regions.takeBackAbandoned();
    }

    @Test
    void shouldRefuseAnObjectThatOnlyRootAndItsOwnerMayOpen() throws IOException {
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 4096)) {
            giveAway("rw-------");

            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.register("r", object.key(), 0, 4096))
                    .withMessage("Unable to open shared memory region: '" + name + "'")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL));
            assertThat(regions.statuses()).isEmpty();
        }
    }

    @Test
    void shouldOnlyReadAnObjectThatItsOwnerLetsEverybodyRead() throws IOException {
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 4096)) {
            object.segment().fill((byte) 7);
            giveAway("rw-r--r--");
            regions.register("r", object.key(), 0, 4096);

            regions.borrow("r", 0, 16, Access.READ).close();
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.borrow("r", 0, 16, Access.WRITE))
                    .withMessageContaining("the server may only read its object");
        }
    }

    @Test
    void shouldWriteAnObjectThatItsOwnerLetsEverybodyWrite() throws IOException {
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 4096)) {
            object.segment().fill((byte) 7);
            giveAway("rw-rw-rw-");
            regions.register("r", object.key(), 0, 4096);

            try (RegionLease lease = regions.borrow("r", 0, 16, Access.WRITE)) {
                lease.segment().fill((byte) 9);
                lease.settle();
            }
            assertThat(object.segment().get(ValueLayout.JAVA_BYTE, 15)).isEqualTo((byte) 9);
            assertThat(object.segment().get(ValueLayout.JAVA_BYTE, 16)).isEqualTo((byte) 7);
        }
    }

    @Test
    void shouldTakeBackWhatAClientThatEndedLeftBehind() {
        try (ClientProcess client = ClientProcess.start("sealed", 4096)) {
            regions.register("r", client.key(), 0, 4096);
            look();
            assertThat(regions.statuses()).hasSize(1);
        }
        RegionLease used = regions.borrow("r", 0, 16, Access.READ);

        look();

        assertThat(regions.statuses()).isEmpty();
        assertThat(regions.takenBackCount()).isEqualTo(1);
        assertThat(used.segment().get(ValueLayout.JAVA_BYTE, 0))
                .as("a request that still runs")
                .isEqualTo((byte) 7);
        used.close();
        awaitUnmapped(0);
    }

    @Test
    void shouldKeepWhatAnotherProcessHasOpen() throws Exception {
        Process heir;
        try (ClientProcess client = ClientProcess.start("sealed", 4096)) {
            regions.register("r", client.key(), 0, 4096);
            heir = new ProcessBuilder("sh", "-c", "exec 9<>" + client.key() + "; echo open; exec cat").start();
            assertThat(heir.inputReader().readLine()).isEqualTo("open");
        }
        look();
        assertThat(regions.statuses()).hasSize(1);

        heir.destroyForcibly();
        assertThat(heir.waitFor(30, TimeUnit.SECONDS)).isTrue();
        look();
        assertThat(regions.statuses()).isEmpty();
        awaitUnmapped(0);
    }

    @Test
    void shouldKeepAnObjectWithANameThatAnybodyMayOpen() {
        try (ClientProcess client = ClientProcess.start(name, 4096)) {
            regions.register("r", client.key(), 0, 4096);
        }
        look();

        assertThat(regions.statuses()).hasSize(1);
    }
}
