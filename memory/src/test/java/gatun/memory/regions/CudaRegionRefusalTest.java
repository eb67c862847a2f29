// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.cuda.CudaAllocation;
import gatun.memory.regions.RegionRegistry.Access;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Refusals of GPU memory by the registry, and their texts; nothing is changed then. */
class CudaRegionRefusalTest extends CudaRegionFixture {
    private static final long BYTE_SIZE = 4096;
    private static final int OUT_OF_MEMORY = 2;
    private static final int UNKNOWN = 999;

    private void assertRefused(byte[] handle, long device, long byteSize, ErrorCode code, String... texts) {
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> regions.registerCuda("g", handle, device, byteSize))
                .satisfies(e -> assertThat(e.getMessage()).contains(texts))
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
        assertThat(regions.statuses()).isEmpty();
        assertThat(regions.mappedCount()).isZero();
    }

    private void assertRefused(byte[] handle, long device, long byteSize, String text) {
        assertRefused(
                handle,
                device,
                byteSize,
                ErrorCode.INVALID_ARGUMENT,
                "failed to register shared memory region: invalid args: ",
                "region 'g'",
                text);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 63, 65})
    void shouldRefuseWhatHasNotTheSizeOfAHandle(int byteSize) {
        assertRefused(new byte[byteSize], 0, 1, "has " + byteSize + " bytes, expected the 64");
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 100, 1L << 32, Long.MIN_VALUE})
    void shouldRefuseAGpuThatIsNotThere(long device) {
        assertRefused(new byte[64], device, 1, "is to be on GPU " + device + ", expected 0 to ");
    }

    @Test
    void shouldRefuseWhatIsNoHandle() {
        assertRefused(new byte[64], 0, 1, "CUDA cannot open the handle");
    }

    @Test
    void shouldRefuseAHandleOfItsOwnProcess() {
        try (CudaAllocation own = CudaAllocation.of(gpu(), BYTE_SIZE)) {
            assertRefused(own.handle(), 0, BYTE_SIZE, "expected memory of that GPU that another process");
        }
    }

    @Test
    void shouldRefuseTheHandleOfAClientThatIsGone() {
        byte[] handle;
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE)) {
            handle = client.handle();
        }
        assertRefused(handle, 0, BYTE_SIZE, "CUDA cannot open the handle");
    }

    @Test
    void shouldRefuseTheHandleOfMemoryThatWasFreed() {
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE)) {
            assertThat(client.tell("free")).isEqualTo("done");
            assertRefused(client.handle(), 0, BYTE_SIZE, "CUDA cannot open the handle");
        }
    }

    @Test
    void shouldRefuseMoreThanTheAllocationHas() {
        try (ClientProcess client = ClientProcess.startOnGpu(0, 4 * MIB)) {
            // CUDA's own allocations may be larger than what was asked for.
            long beyond = 1L << 40;
            assertRefused(client.handle(), 0, beyond, "is to have " + beyond + " bytes, expected at most the ");
            assertRefused(client.handle(), 0, -1, "is to have 18446744073709551615 bytes, expected at most the ");
            assertRefused(client.handle(), 0, 0, "is to have 0 bytes, expected at least 1");
            regions.registerCuda("g", client.handle(), 0, 4 * MIB);
        }
    }

    @Test
    void shouldRefuseANameThatIsTakenByEitherKind() {
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE);
                SharedMemoryObject object = SharedMemoryObject.posix(name, BYTE_SIZE)) {
            regions.registerCuda("g", client.handle(), 0, BYTE_SIZE);
            regions.register("s", object.key(), 0, BYTE_SIZE);
            for (String taken : new String[] {"g", "s"}) {
                assertThatExceptionOfType(GatunException.class)
                        .isThrownBy(() -> regions.registerCuda(taken, client.handle(), 0, BYTE_SIZE))
                        .withMessage("shared memory region '" + taken + "' already in manager")
                        .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.ALREADY_EXISTS));
                assertThatExceptionOfType(GatunException.class)
                        .isThrownBy(() -> regions.register(taken, object.key(), 0, BYTE_SIZE))
                        .withMessage("shared memory region '" + taken + "' already in manager");
            }
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.registerCuda("", client.handle(), 0, BYTE_SIZE))
                    .withMessage("'region name' is necessary to register cuda shared memory region");
            assertThat(regions.statuses()).hasSize(2);
        }
    }

    @Test
    void shouldCountBothKindsAgainstOneLimit() {
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE);
                SharedMemoryObject object = SharedMemoryObject.posix(name, BYTE_SIZE)) {
            regions.register("s", object.key(), 0, BYTE_SIZE);
            for (int i = 1; i < SharedRegions.MAX_REGIONS; i++) {
                regions.registerCuda("g" + i, client.handle(), 0, BYTE_SIZE);
            }
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.registerCuda("more", client.handle(), 0, BYTE_SIZE))
                    .withMessageContaining("already holds 1024 regions")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "4096 | 0 | Invalid offset for shared memory region: 'g'",
                "-1 | 1 | Invalid offset for shared memory region: 'g'",
                "1 | 4096 | Invalid offset + byte size for shared memory region: 'g'",
                "1 | -1 | Integer overflow detected: byte_size (18446744073709551615) + offset (1) exceeds maximum"
                        + " value"
                        + " (18446744073709551615) for region 'g'",
            })
    void shouldRefuseAWindowBeyondTheRegion(long offset, long byteSize, String text) {
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE)) {
            regions.registerCuda("g", client.handle(), 0, BYTE_SIZE);
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.borrow("g", offset, byteSize, Access.WRITE))
                    .withMessage(text)
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
            regions.borrow("g", BYTE_SIZE - 1, 0, Access.SNAPSHOT).close();
        }
    }

    @Test
    void shouldOpenNothingWhenTheGpuIsShortOfSomething() {
        var driver = standIn();
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE)) {
            driver.fail("cuIpcOpenMemHandle", OUT_OF_MEMORY, 1);
            assertRefused(client.handle(), 0, BYTE_SIZE, ErrorCode.UNAVAILABLE, "CUDA_ERROR_OUT_OF_MEMORY");
            driver.fail("cuMemGetAddressRange", UNKNOWN, 1);
            assertRefused(client.handle(), 0, BYTE_SIZE, ErrorCode.INTERNAL, "cuMemGetAddressRange");
            regions.registerCuda("g", client.handle(), 0, BYTE_SIZE);
        }
    }

    @Test
    void shouldTellWhenACopyFailsAndServeTheNextRequest() {
        var driver = standIn();
        try (ClientProcess client = ClientProcess.startOnGpu(0, BYTE_SIZE)) {
            regions.registerCuda("g", client.handle(), 0, BYTE_SIZE);
            driver.fail("cuMemcpyDtoH", UNKNOWN, 1);
            try (RegionLease input = regions.borrow("g", 0, 16, Access.READ)) {
                for (int i = 0; i < 2; i++) {
                    assertThatExceptionOfType(GatunException.class)
                            .isThrownBy(input::segment)
                            .withMessageContaining("cuMemcpyDtoH")
                            .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL));
                }
            }
            driver.fail("cuMemcpyDtoH", UNKNOWN, 1);
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> regions.borrow("g", 0, 16, Access.SNAPSHOT));
            driver.fail("cuMemcpyHtoD", UNKNOWN, 1);
            try (RegionLease output = regions.borrow("g", 0, 16, Access.WRITE)) {
                output.target(16).fill((byte) 1);
                assertThatExceptionOfType(GatunException.class)
                        .isThrownBy(output::settle)
                        .withMessageContaining("cuMemcpyHtoD");
            }
            try (RegionLease input = regions.borrow("g", 0, 16, Access.READ)) {
                assertThat(input.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
            }
        }
    }
}
