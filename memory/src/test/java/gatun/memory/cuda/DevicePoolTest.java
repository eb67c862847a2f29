// SPDX-License-Identifier: Apache-2.0
package gatun.memory.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.cuda.DevicePool.DeviceBuffer;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.testing.CudaLeakCheck;
import gatun.testing.CudaStandIn;
import gatun.testing.CudaStandIn.Count;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class DevicePoolTest {
    private static final long LIMIT = 16 << 20;
    private static final int OUT_OF_MEMORY = 2;

    @RegisterExtension
    final CudaLeakCheck leaks = new CudaLeakCheck();

    private DevicePool pool;

    @BeforeEach
    void open() {
        pool = new DevicePool(CudaFixture.device(0), LIMIT);
        pool.nameLimit("--gpu-bytes=0");
    }

    @AfterEach
    void close() {
        if (pool != null) {
            pool.trim();
        }
    }

    @Test
    void shouldLendMemoryAgainWithoutAskingTheGpu() {
        CudaStandIn standIn = CudaFixture.standIn();
        DeviceMemory first;
        try (DeviceBuffer buffer = pool.take(1000)) {
            first = buffer.memory();
            assertThat(first.byteSize()).isEqualTo(1000);
            assertThat(first.address() % 512).isZero();
            assertThat(pool.lentBytes()).isEqualTo(1024);
        }
        assertThat(pool.lentBytes()).isZero();
        long allocations = standIn.count(Count.ALLOCATIONS);

        try (DeviceBuffer again = pool.take(700)) {
            assertThat(again.memory().address()).isEqualTo(first.address());
            assertThat(standIn.count(Count.ALLOCATIONS)).isEqualTo(allocations);
        }
    }

    @Test
    void shouldLendMemoryForATensorOfNoBytes() {
        try (DeviceBuffer buffer = pool.take(0)) {
            assertThat(buffer.memory().byteSize()).isZero();
            assertThat(buffer.memory().address()).isNotZero();
        }
    }

    @Test
    void shouldRefuseWhatCanNeverFit() {
        assertThatThrownBy(() -> pool.take(LIMIT + 1))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining("more than the limit of its pool, 16777216 bytes")
                .hasMessageContaining("start the server with a larger --gpu-bytes=0");
    }

    @Test
    void shouldRefuseWhatDoesNotFitNowAndLendItLater() {
        try (DeviceBuffer half = pool.take(LIMIT / 2)) {
            assertThat(half.memory().byteSize()).isEqualTo(LIMIT / 2);
            assertThatThrownBy(() -> pool.take(LIMIT / 2 + 1))
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
                    .hasMessageContaining("has no 8388609 bytes left of its 16777216");
        }
        try (DeviceBuffer larger = pool.take(LIMIT / 2 + 1)) {
            assertThat(larger.memory().byteSize()).isEqualTo(LIMIT / 2 + 1);
        }
    }

    @Test
    void shouldGiveUpIdleMemoryForOtherSizes() {
        pool.take(LIMIT / 2).close();
        pool.take(4 << 20).close();

        try (DeviceBuffer all = pool.take(LIMIT)) {
            assertThat(all.memory().byteSize()).isEqualTo(pool.lentBytes()).isEqualTo(LIMIT);
        }
    }

    @Test
    void shouldGiveUpIdleMemoryWhenTheGpuIsFull() {
        pool.take(1 << 20).close();
        CudaFixture.standIn().fail("cuMemAlloc@0", OUT_OF_MEMORY, 1);

        try (DeviceBuffer buffer = pool.take(2 << 20)) {
            assertThat(buffer.memory().byteSize()).isEqualTo(2 << 20);
        }
    }

    @Test
    void shouldCountNothingAsLentThatTheGpuRefused() {
        CudaFixture.standIn().fail("cuMemAlloc@0", OUT_OF_MEMORY, 0);

        assertThatThrownBy(() -> pool.take(4096))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
                .hasMessageContaining("GPU 0: cuMemAlloc of 4096 bytes: out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
        assertThat(pool.lentBytes()).isZero();

        CudaFixture.standIn().reset();
        try (DeviceBuffer all = pool.take(LIMIT)) {
            assertThat(all.memory().byteSize()).isEqualTo(LIMIT);
        }
    }
}
