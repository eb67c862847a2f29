// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.buffers.Buffer;
import gatun.memory.regions.RegionRegistry.Access;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.testing.CudaStandIn;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Regions on a GPU whose memory belongs to another process. */
class CudaRegionsTest extends CudaRegionFixture {
    private static final int BYTE_SIZE = 8192;
    private static final int ALREADY_MAPPED = 208;

    @Test
    void shouldLendTheAddressAndCopyNothingUntilSomebodyLooks() {
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE)) {
            regions.registerCuda("g", client.handle(), 0, BYTE_SIZE);
            assertThat(regions.status("g", CudaRegionStatus.class)).isEqualTo(new CudaRegionStatus("g", 0, BYTE_SIZE));

            try (RegionLease whole = regions.borrow("g", 0, BYTE_SIZE, Access.READ);
                    RegionLease input = regions.borrow("g", 4096, 16, Access.READ);
                    RegionLease output = regions.borrow("g", 0, 16, Access.WRITE)) {
                DeviceMemory memory = whole.device().orElseThrow();
                assertThat(memory.byteSize()).isEqualTo(BYTE_SIZE);
                assertThat(input.device()).contains(memory.slice(4096, 16));
                assertThat(output.device()).contains(memory.slice(0, 16));
                assertThat(output.byteSize()).isEqualTo(16);
                output.settle();
                assertThat(pool.usedBytes()).as("nobody looked").isZero();

                assertThat(input.segment().byteSize()).isEqualTo(16);
                assertThat(input.segment().get(ValueLayout.JAVA_BYTE, 15)).isEqualTo((byte) 7);
                assertThat(input.segment()).as("copied once").isEqualTo(input.segment());
                input.settle();
            }
            assertThat(client.tell("byte 0")).isEqualTo("is 7");
        }
    }

    @Test
    void shouldBringBackWhatWasHandedOutToBeWrittenAndNothingElse() {
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE)) {
            regions.registerCuda("g", client.handle(), 0, BYTE_SIZE);
            // Where that can be asked for, a driver that is slow to do what nobody waits for.
            CudaStandIn.loaded().ifPresent(driver -> driver.delay(Duration.ofMillis(20)));
            // The memory that the pool lends next is full of another's data.
            try (Buffer others = pool.take(100)) {
                others.segment().fill((byte) 99);
            }
            try (RegionLease output = regions.borrow("g", 10, 100, Access.WRITE)) {
                output.target(20).fill((byte) 1);
                output.settle();
                output.target(10).fill((byte) 2);
                output.settle();
            }
            assertThat(client.tell("byte 9")).isEqualTo("is 7");
            assertThat(client.tell("byte 10")).isEqualTo("is 2");
            assertThat(client.tell("byte 19")).isEqualTo("is 2");
            assertThat(client.tell("byte 20")).isEqualTo("is 1");
            assertThat(client.tell("byte 29")).isEqualTo("is 1");
            assertThat(client.tell("byte 30")).isEqualTo("is 7");
            try (RegionLease output = regions.borrow("g", 0, 100, Access.WRITE)) {
                MemorySegment window = output.segment();
                assertThat(window.get(ValueLayout.JAVA_BYTE, 10)).isEqualTo((byte) 2);
                window.set(ValueLayout.JAVA_BYTE, 99, (byte) 3);
                output.settle();
            }
            assertThat(client.tell("byte 99")).isEqualTo("is 3");
            assertThat(client.tell("byte 98")).isEqualTo("is 7");
            assertThat(client.tell("byte 10")).isEqualTo("is 2");
        }
    }

    @Test
    void shouldTakeStringsAwayFromWhoCouldChangeThem() {
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE)) {
            regions.registerCuda("g", client.handle(), 0, BYTE_SIZE);
            try (RegionLease strings = regions.borrow("g", 0, 64, Access.SNAPSHOT)) {
                assertThat(client.tell("fill 8")).isEqualTo("done");
                assertThat(strings.device()).as("the copy is not there").isEmpty();
                assertThat(strings.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
                regions.unregister("g");
                awaitUnmapped(0);
                assertThat(strings.segment().get(ValueLayout.JAVA_BYTE, 63)).isEqualTo((byte) 7);
            }
        }
    }

    @Test
    void shouldStayOpenUntilTheLastLeaseIsGivenBack() {
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE)) {
            regions.registerCuda("g", client.handle(), 0, BYTE_SIZE);
            RegionLease late = regions.borrow("g", 0, BYTE_SIZE, Access.READ);
            regions.unregister("g");
            assertThat(regions.mappedCount()).isEqualTo(1);
            client.kill();
            assertThat(late.segment().get(ValueLayout.JAVA_BYTE, BYTE_SIZE - 1)).isEqualTo((byte) 7);
            late.settle();
            late.close();
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.borrow("g", 0, 1, Access.READ))
                    .withMessage("Unable to find shared memory region: 'g'");
            awaitUnmapped(0);
            late.close();
        }
    }

    @Test
    void shouldOpenAHandleOnceHoweverManyRegionsHaveIt() {
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE)) {
            regions.registerCuda("one", client.handle(), 0, BYTE_SIZE);
            // Where that can be asked for, a driver that refuses the second time.
            CudaStandIn.loaded().ifPresent(driver -> driver.fail("cuIpcOpenMemHandle", ALREADY_MAPPED, 1));
            regions.registerCuda("two", client.handle(), 0, 100);
            CudaStandIn.loaded().ifPresent(CudaStandIn::reset);
            regions.unregister("one");
            awaitUnmapped(1);
            try (RegionLease lease = regions.borrow("two", 0, 100, Access.READ)) {
                assertThat(lease.segment().get(ValueLayout.JAVA_BYTE, 99)).isEqualTo((byte) 7);
            }
            regions.unregister("two");
            awaitUnmapped(0);
            regions.registerCuda("one", client.handle(), 0, BYTE_SIZE);
        }
    }

    @Test
    void shouldOpenAndCloseOneHandleFromManyThreads() throws Exception {
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            byte[] handle = client.handle();
            List<Future<Integer>> users = new ArrayList<>();
            for (int user = 0; user < 8; user++) {
                String region = "g" + user;
                Callable<Integer> work = () -> {
                    int sum = 0;
                    for (int round = 0; round < 50; round++) {
                        regions.registerCuda(region, handle, 0, BYTE_SIZE);
                        try (RegionLease lease = regions.borrow(region, round, 1, Access.READ)) {
                            regions.unregister(region);
                            sum += lease.segment().get(ValueLayout.JAVA_BYTE, 0);
                        }
                    }
                    return sum;
                };
                users.add(threads.submit(work));
            }
            for (Future<Integer> user : users) {
                assertThat(user.get(30, TimeUnit.SECONDS)).isEqualTo(7 * 50);
            }
            awaitUnmapped(0);
        }
    }

    @Test
    void shouldReadAWindowFromManyThreadsWithOneCopy() throws Exception {
        try (ClientProcess client = ClientProcess.startOnGpu(0, MIB);
                ExecutorService threads = Executors.newFixedThreadPool(8)) {
            regions.registerCuda("g", client.handle(), 0, MIB);
            try (RegionLease lease = regions.borrow("g", 0, MIB, Access.READ)) {
                List<Callable<MemorySegment>> readers = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    readers.add(lease::segment);
                }
                for (Future<MemorySegment> reader : threads.invokeAll(readers, 30, TimeUnit.SECONDS)) {
                    assertThat(reader.get()).isEqualTo(lease.segment());
                }
                assertThat(pool.usedBytes()).isEqualTo(MIB);
            }
        }
    }

    @Test
    void shouldKeepBothKindsApartUnderTheirNames() {
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE);
                SharedMemoryObject object = SharedMemoryObject.posix(name, 4096)) {
            regions.registerCuda("g", client.handle(), 0, BYTE_SIZE);
            regions.register("s", object.key(), 0, 4096);
            assertThat(regions.statuses())
                    .containsExactly(
                            new CudaRegionStatus("g", 0, BYTE_SIZE),
                            new SystemRegionStatus("s", object.key(), 0, 4096));
            assertThat(regions.statuses(CudaRegionStatus.class)).hasSize(1);
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.status("g", SystemRegionStatus.class))
                    .withMessage("The region named 'g' is registered as CUDA shared memory, not system shared memory");
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.status("s", CudaRegionStatus.class))
                    .withMessage("The region named 's' is registered as system shared memory, not CUDA shared memory");
            regions.unregister("g", SystemRegionStatus.class);
            regions.unregisterAll(SystemRegionStatus.class);
            assertThat(regions.statuses()).extracting(RegionStatus::name).containsExactly("g");
            regions.unregisterAll();
            assertThat(regions.statuses()).isEmpty();
        }
    }
}
