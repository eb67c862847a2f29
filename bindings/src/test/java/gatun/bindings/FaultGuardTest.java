// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This JVM plays the client that truncates its shared object; the server that has it mapped is a second JVM, since it
 * could die of it.
 */
@Timeout(180)
class FaultGuardTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long PAGE = Posix.pageSize();
    private static final long REGION_BYTES = 64 * PAGE;
    private static final int READ_WRITE = Posix.PROT_READ | Posix.PROT_WRITE;
    private static final LibraryCache CACHE = new LibraryCache(Path.of("target", "library-cache"));

    private FaultGuard guard;

    @BeforeEach
    void install() {
        guard = FaultGuard.install(CACHE);
        String reason = guard instanceof FaultGuard.Absent absent ? absent.reason() : "";
        assumeThat(guard).as("the fault guard: " + reason).isInstanceOf(FaultGuard.Installed.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Serial", "Parallel", "G1", "Z"})
    void shouldLetANativeCopySurviveATruncationUnderCollector(String collector) throws Exception {
        try (SharedObject object = SharedObject.create(REGION_BYTES);
                ChildJvm server = ChildJvm.launch(
                        GuardedServer.class,
                        List.of("-XX:+Use" + collector + "GC"),
                        "copy",
                        CACHE.folder().toString(),
                        object.key())) {
            object.fill((byte) 7);
            server.awaitLine("mapped", LIMIT);
            object.truncate(REGION_BYTES / 2);
            server.send("copy");
            // The part that is still there is read, the lost part reads as zero, and the region counts as broken.
            assertThat(server.awaitLine("copied", LIMIT)).isEqualTo("first 7 middle 0 last 0 broken true");
            assertThat(server.awaitLine("other", LIMIT)).isEqualTo("broken false");
            assertThat(server.awaitExit(LIMIT)).isZero();
        }
    }

    @Test
    void shouldLetChecksumsOfTheJdkSurviveATruncation() throws Exception {
        try (SharedObject object = SharedObject.create(REGION_BYTES);
                ChildJvm server = ChildJvm.launch(
                        GuardedServer.class, "checksum", CACHE.folder().toString(), object.key())) {
            server.awaitLine("mapped", LIMIT);
            object.truncate(0);
            server.send("checksum");
            assertThat(server.awaitLine("checksum", LIMIT)).isEqualTo("broken true");
            assertThat(server.awaitExit(LIMIT)).isZero();
        }
    }

    @Test
    void shouldLeaveAFaultInAnUnguardedRegionToTheJvm() throws Exception {
        try (SharedObject object = SharedObject.create(REGION_BYTES);
                ChildJvm server = ChildJvm.launch(
                        GuardedServer.class, "unguarded", CACHE.folder().toString(), object.key())) {
            server.awaitLine("mapped", LIMIT);
            object.truncate(0);
            server.send("read");
            assertThat(server.awaitLine("read", LIMIT)).startsWith("java.lang.InternalError");
            assertThat(server.awaitExit(LIMIT)).isZero();
        }
    }

    @Test
    void shouldNotKeepANativeFaultInAnUnguardedRegionFromEndingTheProcess() throws Exception {
        try (SharedObject object = SharedObject.create(REGION_BYTES);
                ChildJvm server = ChildJvm.launch(
                        GuardedServer.class,
                        List.of("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=/dev/null"),
                        "unguarded-copy",
                        CACHE.folder().toString(),
                        object.key())) {
            server.awaitLine("mapped", LIMIT);
            object.truncate(0);
            server.send("copy");
            server.awaitLine("#  SIGBUS", LIMIT);
            assertThat(server.awaitExit(LIMIT)).isNotZero();
        }
    }

    @Test
    void shouldStayRightWhileManyThreadsMapBreakAndUnmapRegions() throws Exception {
        try (ChildJvm server =
                ChildJvm.launch(GuardedServer.class, "stress", CACHE.folder().toString(), "/unused")) {
            assertThat(server.awaitLine("stress", LIMIT)).isEqualTo("800 regions broken, 800 whole");
            assertThat(server.awaitExit(LIMIT)).isZero();
        }
    }

    @Test
    void shouldAnswerEmptyWhenTheTableIsFullAndHaveRoomAgainAfterwards() {
        int capacity = ((FaultGuard.Installed) guard).capacity();
        assertThat(capacity).isGreaterThanOrEqualTo(1024);
        long address = Posix.mapAnonymous(PAGE, READ_WRITE);
        List<RegionGuard> guards = new ArrayList<>();
        for (int i = 0; i < capacity; i++) {
            guards.add(guard.protect(address, PAGE, READ_WRITE).orElseThrow());
        }
        assertThat(guard.protect(address, PAGE, READ_WRITE)).isEmpty();
        guards.removeLast().close();
        Optional<RegionGuard> again = guard.protect(address, PAGE, READ_WRITE);
        assertThat(again).isPresent();
        again.orElseThrow().close();
        guards.forEach(RegionGuard::close);
        Posix.munmap(address, PAGE);
    }

    @Test
    void shouldRefuseToGuardWhatIsNoMapping() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> guard.protect(8, PAGE, READ_WRITE))
                .withMessageContaining("begins on a page");
        assertThatIllegalArgumentException().isThrownBy(() -> guard.protect(PAGE, 0, READ_WRITE));
    }

    @Test
    void shouldKeepItsAnswerAfterItWasClosed() {
        long address = Posix.mapAnonymous(PAGE, READ_WRITE);
        RegionGuard region = guard.protect(address, PAGE, READ_WRITE).orElseThrow();
        assertThat(region.broken()).isFalse();
        region.close();
        assertThat(region.broken()).isFalse();
        assertThatIllegalStateException().isThrownBy(region::close);
        Posix.munmap(address, PAGE);
    }
}
