// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import gatun.bindings.FaultGuard;
import gatun.bindings.LibraryCache;
import gatun.bindings.Posix;
import gatun.bindings.RegionGuard;
import gatun.memory.buffers.Buffer;
import gatun.memory.regions.RegionRegistry.Access;
import gatun.memory.regions.RegionUse.RegionKind;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions whose object belongs to another process. */
class SystemRegionsTest extends RegionFixture {
    @ParameterizedTest
    @ValueSource(strings = {"posix", "sealed"})
    void shouldShareMemoryWithAnotherProcess(String kind) {
        try (ClientProcess client = ClientProcess.start(kind.equals("posix") ? name : "sealed", 8192)) {
            regions.register("r", client.key(), 100, 5000);
            assertThat(regions.status("r", SystemRegionStatus.class))
                    .isEqualTo(new SystemRegionStatus("r", client.key(), 100, 5000));

            try (RegionLease input = regions.borrow("r", 0, 16, Access.READ);
                    RegionLease output = regions.borrow("r", 16, 16, Access.WRITE)) {
                assertThat(input.segment().get(ValueLayout.JAVA_BYTE, 15)).isEqualTo((byte) 7);
                output.segment().fill((byte) 42);
                input.settle();
                output.settle();
            }
            assertThat(client.tell("byte 115")).isEqualTo("is 7");
            assertThat(client.tell("byte 116")).isEqualTo("is 42");
            assertThat(client.tell("byte 132")).isEqualTo("is 7");
        }
    }

    @Test
    void shouldNotCopyWhereTheGuardOrASealProtects() {
        try (ClientProcess posix = ClientProcess.start(name, 8192);
                ClientProcess sealed = ClientProcess.start("sealed", 8192)) {
            regions.register("posix", posix.key(), 0, 8192);
            regions.register("sealed", sealed.key(), 0, 8192);
            assumeTrue(regions.protection().startsWith("zero-copy"), regions.protection());

            assertThat(regions.kind("posix")).contains(RegionKind.GUARDED);
            assertThat(regions.kind("sealed")).contains(RegionKind.SEALED);
            try (RegionLease lease = regions.borrow("posix", 0, 8192, Access.READ)) {
                assertThat(pool.usedBytes()).isZero();
                assertThat(lease.segment().byteSize()).isEqualTo(8192);
            }
        }
    }

    @Test
    void shouldLendAWindowAgainUntilItsRegionIsTakenAway() {
        try (ClientProcess posix = ClientProcess.start(name, 8192);
                ClientProcess sealed = ClientProcess.start("sealed", 8192)) {
            regions.register("posix", posix.key(), 0, 8192);
            regions.register("sealed", sealed.key(), 0, 8192);
            assumeTrue(regions.protection().startsWith("zero-copy"), regions.protection());
            RegionLease first = regions.borrow("posix", 0, 64, Access.WRITE);
            RegionLease second = regions.borrow("sealed", 0, 64, Access.READ);
            RegionLease copy = regions.borrow("sealed", 0, 64, Access.SNAPSHOT);
            assertThat(first.isShared()).isTrue();
            assertThat(second.isShared()).isTrue();
            assertThat(copy.isShared()).as("a copy is nobody else's").isFalse();
            assertThat(first.renew()).as("it is lent now").isFalse();
            first.close();
            second.close();
            copy.close();
            assertThat(copy.renew()).as("a copy is of one moment").isFalse();

            assertThat(second.renew()).isTrue();
            regions.unregister("sealed");
            assertThat(second.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
            second.close();
            regions.register("sealed", sealed.key(), 0, 8192);
            assertThat(second.renew()).as("another region has its name").isFalse();

            assertThat(first.renew()).isTrue();
            first.settle();
            first.close();
            assertThat(posix.tell("truncate 0")).isEqualTo("done");
            assertThat(first.renew()).isFalse();
            assertThat(regions.uses()).hasSize(2).allSatisfy(use -> assertThat(use.leases())
                    .isZero());
        }
    }

    @Test
    void shouldCopyWhereThereIsNoGuard() {
        regions.close();
        regions = SharedRegions.withoutGuard(pool);
        try (ClientProcess client = ClientProcess.start(name, 8192)) {
            regions.register("r", client.key(), 0, 8192);
            assertThat(regions.kind("r")).contains(RegionKind.COPIED);
            try (RegionLease input = regions.borrow("r", 0, 64, Access.READ);
                    RegionLease output = regions.borrow("r", 64, 64, Access.WRITE)) {
                assertThat(pool.usedBytes()).isPositive();
                assertThat(input.isShared()).isFalse();
                assertThat(output.isShared()).isFalse();
                assertThat(input.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
                output.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 42);
                output.settle();
            }
            assertThat(client.tell("byte 64")).isEqualTo("is 42");
            assertThat(client.tell("byte 65")).isEqualTo("is 7");

            assertThat(client.tell("truncate 0")).isEqualTo("done");
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.borrow("r", 0, 64, Access.READ))
                    .withMessageContaining("was truncated");
        }
    }

    @Test
    void shouldCopyARegionForWhichTheGuardHasNoRoom() {
        assumeTrue(regions.protection().startsWith("zero-copy"), regions.protection());
        FaultGuard guard = FaultGuard.install(LibraryCache.ofUser());
        long page = Posix.mapAnonymous(Posix.pageSize(), Posix.PROT_READ);
        List<RegionGuard> all = new ArrayList<>();
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 4096)) {
            for (var next = guard.protect(page, 1, Posix.PROT_READ);
                    next.isPresent();
                    next = guard.protect(page, 1, Posix.PROT_READ)) {
                all.add(next.get());
            }
            object.segment().fill((byte) 4);
            regions.register("r", object.key(), 0, 4096);
            assertThat(regions.kind("r")).contains(RegionKind.COPIED);
            try (RegionLease lease = regions.borrow("r", 0, 4096, Access.READ)) {
                assertThat(lease.segment().get(ValueLayout.JAVA_BYTE, 4095)).isEqualTo((byte) 4);
                lease.settle();
            }
        } finally {
            all.forEach(RegionGuard::close);
            Posix.munmap(page, Posix.pageSize());
        }
    }

    @Test
    @SuppressWarnings("restricted")
    void shouldSurviveATruncationWhileNativeCodeReads() throws Throwable {
        assumeTrue(regions.protection().startsWith("zero-copy"), regions.protection());
        MethodHandle memcmp = Linker.nativeLinker()
                .downcallHandle(
                        Linker.nativeLinker().defaultLookup().find("memcmp").orElseThrow(),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
        try (ClientProcess client = ClientProcess.start(name, MIB);
                Buffer sevens = pool.take(MIB)) {
            sevens.segment().fill((byte) 7);
            regions.register("r", client.key(), 0, MIB);
            try (RegionLease lease = regions.borrow("r", 0, MIB, Access.READ)) {
                assertThat((int) memcmp.invokeExact(lease.segment(), sevens.segment(), MIB))
                        .isZero();
                assertThat(client.tell("truncate 0")).isEqualTo("done");
                assertThat((int) memcmp.invokeExact(lease.segment(), sevens.segment(), MIB))
                        .isNotZero();
                assertThatExceptionOfType(GatunException.class)
                        .isThrownBy(lease::settle)
                        .withMessageContaining("was truncated");
            }
        }
    }

    @Test
    void shouldNotLetASealedObjectBeTruncated() {
        try (ClientProcess client = ClientProcess.start("sealed", 8192)) {
            regions.register("r", client.key(), 0, 8192);
            assertThat(client.tell("truncate 0")).startsWith("refused ");
            regions.borrow("r", 0, 8192, Access.READ).close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"posix", "sealed"})
    void shouldKeepTheMemoryOfAClientThatWasKilled(String kind) {
        try (ClientProcess client = ClientProcess.start(kind.equals("posix") ? name : "sealed", 8192)) {
            regions.register("r", client.key(), 0, 8192);
            client.kill();
            try (RegionLease lease = regions.borrow("r", 8000, 192, Access.WRITE)) {
                assertThat(lease.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
                lease.segment().fill((byte) 1);
                lease.settle();
            }
        }
    }

    @Test
    void shouldUnmapWhenTheLastOfEightRequestsHasEnded() throws Exception {
        int requests = 8;
        try (ClientProcess client = ClientProcess.start(name, MIB);
                ExecutorService threads = Executors.newFixedThreadPool(requests)) {
            regions.register("r", client.key(), 0, MIB);
            CountDownLatch borrowed = new CountDownLatch(requests);
            CountDownLatch unregistered = new CountDownLatch(1);
            List<Future<Integer>> sums = new ArrayList<>();
            for (int i = 0; i < requests; i++) {
                sums.add(threads.submit(() -> {
                    try (RegionLease lease = regions.borrow("r", 0, MIB, Access.READ)) {
                        borrowed.countDown();
                        assertThat(unregistered.await(30, TimeUnit.SECONDS)).isTrue();
                        int sum = 0;
                        for (long at = 0; at < MIB; at += 4096) {
                            sum += lease.segment().get(ValueLayout.JAVA_BYTE, at);
                        }
                        lease.settle();
                        return sum;
                    }
                }));
            }
            assertThat(borrowed.await(30, TimeUnit.SECONDS)).isTrue();
            regions.unregister("r");
            assertThat(regions.statuses()).as("as long as requests use it").hasSize(1);
            RegionLease late = regions.borrow("r", 0, 1, Access.READ);
            unregistered.countDown();
            for (Future<Integer> sum : sums) {
                assertThat(sum.get(30, TimeUnit.SECONDS)).isEqualTo(7 * (int) (MIB / 4096));
            }
            assertThat(regions.statuses()).hasSize(1);
            late.close();
            assertThat(regions.statuses()).isEmpty();
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.borrow("r", 0, 1, Access.READ))
                    .withMessage("Unable to find shared memory region: 'r'");
        }
    }

    @Test
    void shouldEndTheUseOfAnUnregisteredRegionThatRequestsWithoutEndUse() {
        try (ClientProcess client = ClientProcess.start(name, 8192)) {
            regions.register("r", client.key(), 0, 100);
            try (RegionLease lease = regions.borrow("r", 0, 100, Access.READ)) {
                regions.unregister("r");
                regions.takeBackAbandoned();
                assertThat(regions.statuses()).hasSize(1);
                regions.takeBackAbandoned();
                assertThat(regions.statuses()).as("as long as it is used").hasSize(1);
                assertThatExceptionOfType(GatunException.class)
                        .isThrownBy(() -> regions.borrow("r", 0, 1, Access.READ))
                        .withMessage("Unable to find shared memory region: 'r'");
                assertThat(lease.segment().get(ValueLayout.JAVA_BYTE, 99)).isEqualTo((byte) 7);
            }
            assertThat(regions.statuses()).isEmpty();
            assertThat(regions.takenBackCount()).isZero();
        }
    }

    @Test
    void shouldGiveTheNameOfAnUnregisteredRegionToAnotherOneAtOnce() {
        try (ClientProcess client = ClientProcess.start(name, 8192)) {
            regions.register("r", client.key(), 0, 100);
            try (RegionLease old = regions.borrow("r", 0, 100, Access.READ)) {
                assertThatExceptionOfType(GatunException.class)
                        .isThrownBy(() -> regions.register("r", client.key(), 0, 200))
                        .withMessage("shared memory region 'r' already in manager");
                regions.unregister("r");
                regions.register("r", client.key(), 0, 200);
                assertThat(regions.status("r", SystemRegionStatus.class).byteSize())
                        .isEqualTo(200);
                assertThat(old.segment().get(ValueLayout.JAVA_BYTE, 99)).isEqualTo((byte) 7);
            }
            try (RegionLease lease = regions.borrow("r", 100, 100, Access.READ)) {
                assertThat(lease.segment().get(ValueLayout.JAVA_BYTE, 99)).isEqualTo((byte) 7);
            }
            regions.unregister("r");
            assertThat(regions.statuses()).isEmpty();
        }
    }

    @Test
    void shouldAllowRegionsThatOverlap() {
        try (ClientProcess client = ClientProcess.start(name, 8192)) {
            regions.register("all", client.key(), 0, 8192);
            regions.register("end", client.key(), 4000, 4192);
            try (RegionLease whole = regions.borrow("all", 0, 8192, Access.WRITE);
                    RegionLease part = regions.borrow("end", 0, 4192, Access.READ)) {
                whole.segment().set(ValueLayout.JAVA_BYTE, 4000, (byte) 9);
                assertThat(regions.kind("all")).isEqualTo(regions.kind("end"));
                whole.settle();
                try (RegionLease again = regions.borrow("end", 0, 1, Access.SNAPSHOT)) {
                    assertThat(again.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 9);
                }
                part.settle();
            }
            assertThat(regions.statuses()).extracting(RegionStatus::name).containsExactly("all", "end");
        }
    }

    @Test
    void shouldTakeASnapshotThatTheClientCannotChange() {
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 4096)) {
            regions.register("r", name, 0, 4096);
            try (RegionLease lease = regions.borrow("r", 0, 16, Access.SNAPSHOT)) {
                object.segment().fill((byte) 5);
                assertThat(lease.segment().get(ValueLayout.JAVA_BYTE, 0)).isZero();
            }
        }
    }

    @Test
    void shouldPutMemoryBehindTheHolesOfASparseObject() throws IOException {
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 4 * MIB)) {
            long before = (long) Files.getAttribute(Path.of("/dev/shm" + name), "size");
            regions.register("r", name, 0, 4 * MIB);
            assertThat(before).isEqualTo(object.segment().byteSize());
            // Unwritten until now: what the registration put behind it is there.
            var file = Posix.shmOpen(name, Posix.O_RDONLY, 0);
            try (file) {
                assertThat(Posix.fstat(file).allocatedByteSize()).isGreaterThanOrEqualTo(4 * MIB);
            }
        }
    }

    @Test
    void shouldTakeInputsButNoOutputsFromAnObjectThatIsSealedAgainstWriting() {
        try (ClientProcess client = ClientProcess.start("write-sealed", 8192)) {
            regions.register("r", client.key(), 0, 8192);
            try (RegionLease lease = regions.borrow("r", 4000, 100, Access.READ)) {
                assertThat(lease.segment().get(ValueLayout.JAVA_BYTE, 99)).isEqualTo((byte) 7);
                lease.settle();
            }
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.borrow("r", 0, 16, Access.WRITE))
                    .withMessageStartingWith("shared memory region 'r' cannot hold outputs")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
        }
    }

    @Test
    void shouldKeepARegionThatIsBorrowedWhileTheRegistryCloses() {
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 4096)) {
            object.segment().fill((byte) 3);
            regions.register("r", object.key(), 0, 4096);
            RegionLease late = regions.borrow("r", 0, 4096, Access.READ);
            regions.close();

            assertThat(late.segment().get(ValueLayout.JAVA_BYTE, 4095)).isEqualTo((byte) 3);
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.register("s", object.key(), 0, 4096))
                    .withMessageEndingWith("the server is stopping")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
            late.settle();
            late.close();
            late.close();
            awaitUnmapped(0);
        }
    }

    @Test
    void shouldCountRegionsUntilTheyAreUnmapped() {
        try (SharedMemoryObject object = SharedMemoryObject.posix(name, 4096)) {
            regions.register("r", object.key(), 0, 4096);
            RegionLease lease = regions.borrow("r", 0, 1, Access.READ);
            regions.unregister("r");
            regions.register("r", object.key(), 0, 4096);
            assertThat(regions.mappedCount()).isEqualTo(2);
            lease.close();
            awaitUnmapped(1);
        }
    }

    // Small copies are loads and stores of compiled code, whose fault the JVM reports later than that of a large one.
    @ParameterizedTest
    @ValueSource(longs = {1, 16, 300, 4096, MIB})
    void shouldAnswerAnErrorForEachCopyWhileTheClientTruncatesAndEnlarges(long byteSize) {
        regions.close();
        regions = SharedRegions.withoutGuard(pool);
        try (ClientProcess client = ClientProcess.start(name, MIB)) {
            regions.register("r", client.key(), 0, MIB);
            for (int i = 0; i < 20_000; i++) {
                regions.borrow("r", MIB - byteSize, Math.min(byteSize, 4096), Access.READ)
                        .close();
            }
            int refused = 0;
            // On a busy machine the two may take turns, so that no copy meets a truncated object.
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            do {
                client.send("flap 2000");
                while (!client.hasAnswered()) {
                    try (RegionLease input = regions.borrow("r", MIB - byteSize, byteSize, Access.READ);
                            RegionLease output = regions.borrow("r", MIB - byteSize, byteSize, Access.WRITE)) {
                        output.settle();
                        assertThat(input.segment().byteSize()).isEqualTo(byteSize);
                    } catch (GatunException e) {
                        assertThat(e).hasMessageContaining("was truncated");
                        refused++;
                    }
                }
                assertThat(client.answer()).isEqualTo("flapped");
            } while (refused == 0 && System.nanoTime() < deadline);
            assertThat(refused).isPositive();
        }
    }

    @Test
    void shouldFindOutAtRegistrationThatTheFileSystemIsFull() throws Exception {
        List<String> output = SmallFileSystem.run(FullFileSystem.class, 4 * MIB);
        assertThat(output)
                .containsExactly(
                        "UNAVAILABLE failed to register shared memory region 'late': its object has holes and there"
                                + " is no"
                                + " memory to fill its 3145728 bytes; write to the object first, enlarge the shared"
                                + " memory"
                                + " file system, or register less",
                        "written");
    }

    @Test
    void shouldNotLetAClientUseUpTheServersMemory() {
        // A memfd lies in no file system that could be full.
        try (ClientProcess client = ClientProcess.start("sparse-sealed", 1L << 43)) {
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.register("r", client.key(), 0, 1L << 43))
                    .withMessageContaining("there is no memory to fill its 8796093022208 bytes")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
            regions.register("r", client.key(), (1L << 43) - 4096, 4096);
        }
    }

    @Test
    void shouldReadASegmentOfItsWholeSize() {
        try (SharedMemoryObject object = SharedMemoryObject.sealed(4096)) {
            MemorySegment segment = object.segment();
            segment.set(ValueLayout.JAVA_BYTE, 4095, (byte) 3);
            assertThat(segment.get(ValueLayout.JAVA_BYTE, 4095)).isEqualTo((byte) 3);
            assertThat(object.key()).matches("/proc/[0-9]+/fd/[0-9]+");
        }
    }
}
