// SPDX-License-Identifier: Apache-2.0
package gatun.memory.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.cuda.DevicePool.DeviceBuffer;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.testing.CudaLeakCheck;
import gatun.testing.CudaStandIn;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60)
class CudaDeviceTest {
    private static final int ILLEGAL_ADDRESS = 700;

    /** A GPU that no other test of this JVM uses: it fails for good here. */
    private static final int DOOMED = 2;

    @RegisterExtension
    final CudaLeakCheck leaks = new CudaLeakCheck();

    @Test
    void shouldTellWhatItIs() {
        CudaDevice device = CudaFixture.device(0);

        assertThat(device.ordinal()).isZero();
        assertThat(device.name()).isNotBlank();
        assertThat(device.toString()).isEqualTo("GPU 0 (" + device.name() + ")");
        assertThat(device.totalBytes()).isPositive();
        assertThat(device.pool().byteLimit()).isEqualTo(device.totalBytes());
        assertThat(CudaDevices.find().absence()).isEmpty();
        assertThat(CudaDevices.find().device(-1)).isEmpty();
        assertThat(CudaDevices.find().device(CudaDevices.find().count())).isEmpty();
    }

    @Test
    void shouldServeVirtualThreads() throws Exception {
        CudaDevice device = CudaFixture.device(0);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                Arena arena = Arena.ofShared();
                CudaAllocation allocation = CudaAllocation.of(device, 4096)) {
            MemorySegment source = CudaFixture.bytes(arena, 4096, 4);
            byte[] back = CompletableFuture.supplyAsync(
                            () -> {
                                assertThat(Thread.currentThread().isVirtual()).isTrue();
                                assertThatThrownBy(device::makeCurrent).isInstanceOf(IllegalStateException.class);
                                allocation.write(0, source);
                                return CudaFixture.read(device, allocation.memory());
                            },
                            threads)
                    .get(30, TimeUnit.SECONDS);
            assertThat(back).isEqualTo(source.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    @Test
    void shouldLeaveTheThreadsOwnDeviceAsItWas() {
        CudaDevice own = CudaFixture.device(0);
        CudaDevice other = CudaFixture.device(1);
        own.makeCurrent();
        try (CudaAllocation there = CudaAllocation.of(other, 64);
                DeviceBuffer here = own.pool().take(64)) {
            // Memory that is taken without naming a device comes from the current one.
            assertThat(there.memory().device()).isEqualTo(1);
            assertThat(here.memory().device()).isZero();
        }
        own.pool().trim();
    }

    @Test
    void shouldRefuseCopiesBeyondTheMemory() {
        CudaDevice device = CudaFixture.device(0);
        try (CudaAllocation allocation = CudaAllocation.of(device, 64);
                Arena arena = Arena.ofConfined()) {
            MemorySegment longer = arena.allocate(65);
            assertThatThrownBy(() -> allocation.write(0, longer)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> allocation.read(1, longer)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> allocation.write(0, MemorySegment.ofArray(new byte[64])))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("on the heap");
        }
        assertThatThrownBy(() -> CudaAllocation.of(device, 0)).hasMessageContaining("expected at least 1");
    }

    @Test
    void shouldBeOutOfUseAfterAnErrorThatSticks() {
        CudaStandIn standIn = CudaFixture.standIn();
        CudaDevice device = CudaFixture.device(DOOMED);
        AtomicInteger told = new AtomicInteger();
        AtomicInteger toldNoMore = new AtomicInteger();
        Hold watch = device.onFailure(told::incrementAndGet);
        device.onFailure(toldNoMore::incrementAndGet).close();
        standIn.fail("cuMemAlloc@" + DOOMED, ILLEGAL_ADDRESS, 1);

        assertThatThrownBy(() -> device.pool().take(64))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
                .hasMessageContaining("GPU 2 has failed (cuMemAlloc of 512 bytes: ")
                .hasMessageContaining("(CUDA_ERROR_ILLEGAL_ADDRESS)); restart the server to use it again");
        assertThat(device.failure().orElseThrow())
                .startsWith("GPU 2 has failed")
                .contains("CUDA_ERROR_ILLEGAL_ADDRESS");
        assertThatThrownBy(device::makeCurrent).hasMessageContaining("GPU 2 has failed");
        assertThatThrownBy(() -> device.call(() -> 1)).hasMessageContaining("GPU 2 has failed");
        assertThat(told).hasValue(1);
        assertThat(toldNoMore).hasValue(0);
        watch.close();

        CudaDevice healthy = CudaFixture.device(0);
        assertThat(healthy.failure()).isEmpty();
        CudaAllocation.of(healthy, 64).close();
    }
}
