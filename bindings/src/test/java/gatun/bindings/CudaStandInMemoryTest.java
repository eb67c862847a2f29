// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static gatun.bindings.StandInDevice.require;
import static gatun.bindings.cuda.cuda_h.*;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.bindings.StandInDevice.Result;
import gatun.testing.CudaStandIn.Count;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Contexts, device memory and pinned memory: each check of the stand-in. */
@Timeout(60)
class CudaStandInMemoryTest {
    private static final String INVALID_VALUE = "CUDA_ERROR_INVALID_VALUE";

    private StandInDevice device;

    @BeforeEach
    void open() {
        device = StandInDevice.open(0);
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    @Test
    void shouldHaveTwoDevicesThatTellThemselvesApart() {
        MemorySegment count = device.arena.allocate(C_INT);
        require(cuDeviceGetCount(count));
        assertThat(count.get(C_INT, 0)).isEqualTo(2);
        assertThat(busId(0)).isEqualTo("0000:17:00.0");
        assertThat(busId(1)).isEqualTo("0000:18:00.0");
        assertThat(Result.of(cuDeviceGet(count, 2))).isEqualTo("CUDA_ERROR_INVALID_DEVICE");
        assertThat(Result.of(cuDeviceGet(count, -1))).isEqualTo("CUDA_ERROR_INVALID_DEVICE");
        require(cuDeviceGetAttribute(count, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR(), 1));
        assertThat(count.get(C_INT, 0)).isEqualTo(9);
    }

    private String busId(int ordinal) {
        MemorySegment text = device.arena.allocate(32);
        require(cuDeviceGetPCIBusId(text, 32, ordinal));
        return text.getString(0);
    }

    @Test
    void shouldCopyToTheDeviceAndBack() {
        long address = device.allocateInts(1, 2, 3, 4);
        assertThat(device.ints(address + 4, 2)).containsExactly(2, 3);
        require(cuMemFree_v2(address));
    }

    @Test
    void shouldNotLeaveFreshMemoryEmpty() {
        long address = device.allocate(4);
        assertThat(device.ints(address, 1)).containsExactly(0xCDCDCDCD);
        require(cuMemFree_v2(address));
    }

    @Test
    void shouldRefuseWhatLiesOutsideAnAllocation() {
        long address = device.allocate(16);
        MemorySegment host = device.arena.allocate(32);
        assertThat(Result.of(cuMemcpyHtoD_v2(address, host, 17))).isEqualTo(INVALID_VALUE);
        assertThat(Result.of(cuMemcpyHtoD_v2(address - 1, host, 4))).isEqualTo(INVALID_VALUE);
        assertThat(Result.of(cuMemcpyDtoH_v2(host, address + 13, 4))).isEqualTo(INVALID_VALUE);
        assertThat(Result.of(cuMemcpyHtoD_v2(0, host, 4))).isEqualTo(INVALID_VALUE);
        assertThat(Result.of(cuMemcpyHtoD_v2(address, MemorySegment.NULL, 4))).isEqualTo(INVALID_VALUE);
        assertThat(Result.of(cuMemcpyHtoD_v2(address, MemorySegment.ofAddress(address), 4)))
                .as("a device address where the host's is expected")
                .isEqualTo(INVALID_VALUE);
        assertThat(Result.of(cuMemcpyHtoD_v2(host.address(), host, 4)))
                .as("a host address where the device's is expected")
                .isEqualTo(INVALID_VALUE);
        assertThat(Result.of(cuMemcpyDtoD_v2(address, address + 4, 8)))
                .as("ranges that overlap")
                .isEqualTo(INVALID_VALUE);
        assertThat(Result.of(cuMemsetD8_v2(address, (byte) 1, 17))).isEqualTo(INVALID_VALUE);
        require(cuMemFree_v2(address));
    }

    @Test
    void shouldNoticeADoubleFreeAndUseAfterFree() {
        long address = device.allocate(16);
        assertThat(Result.of(cuMemFree_v2(address + 4))).isEqualTo(INVALID_VALUE);
        require(cuMemFree_v2(address));
        assertThat(Result.of(cuMemFree_v2(address))).isEqualTo(INVALID_VALUE);
        assertThat(Result.of(cuMemcpyHtoD_v2(address, device.arena.allocate(4), 4)))
                .isEqualTo(INVALID_VALUE);
        long next = device.allocate(16);
        assertThat(next).as("addresses are not used again").isNotEqualTo(address);
        require(cuMemFree_v2(next));
    }

    @Test
    void shouldKeepToTheMemoryOfTheDevice() {
        MemorySegment out = device.arena.allocate(C_LONG, 2);
        require(cuMemGetInfo_v2(out, out.asSlice(8)));
        assertThat(out.get(C_LONG, 0)).isEqualTo(1L << 30);
        assertThat(out.get(C_LONG, 8)).isEqualTo(1L << 30);
        long half = device.allocate(1L << 29);
        assertThat(Result.of(cuMemAlloc_v2(out, (1L << 29) + 1))).isEqualTo("CUDA_ERROR_OUT_OF_MEMORY");
        assertThat(Result.of(cuMemAlloc_v2(out, 0))).isEqualTo(INVALID_VALUE);
        require(cuMemFree_v2(half));
        require(cuMemFree_v2(device.allocate(1L << 30)));
    }

    @Test
    void shouldTellWhereAnAddressBelongs() {
        long address = device.allocate(100);
        MemorySegment out = device.arena.allocate(C_LONG, 2);
        require(cuMemGetAddressRange_v2(out, out.asSlice(8), address + 99));
        assertThat(out.get(C_LONG, 0)).isEqualTo(address);
        assertThat(out.get(C_LONG, 8)).isEqualTo(100);
        assertThat(Result.of(cuMemGetAddressRange_v2(out, out.asSlice(8), address + 100)))
                .isEqualTo("CUDA_ERROR_NOT_FOUND");
        require(cuPointerGetAttribute(out, CU_POINTER_ATTRIBUTE_MEMORY_TYPE(), address));
        assertThat(out.get(C_INT, 0)).isEqualTo(CU_MEMORYTYPE_DEVICE());
        require(cuPointerGetAttribute(out, CU_POINTER_ATTRIBUTE_RANGE_SIZE(), address + 1));
        assertThat(out.get(C_LONG, 0)).isEqualTo(100);
        assertThat(Result.of(cuPointerGetAttribute(out, CU_POINTER_ATTRIBUTE_MEMORY_TYPE(), out.address())))
                .isEqualTo(INVALID_VALUE);
        require(cuMemFree_v2(address));
    }

    @Test
    void shouldPinHostMemory() {
        MemorySegment own = device.arena.allocate(8192);
        require(cuMemHostRegister_v2(own, 8192, CU_MEMHOSTREGISTER_PORTABLE()));
        assertThat(Result.of(cuMemHostRegister_v2(own.asSlice(4096), 4096, 0)))
                .isEqualTo("CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED");
        long address = device.allocate(8192);
        assertThat(Result.of(cuMemcpyHtoD_v2(address, own.asSlice(8188), 8)))
                .as("half pinned, half not")
                .isEqualTo(INVALID_VALUE);
        long pageable = device.standIn.count(Count.PAGEABLE);
        require(cuMemcpyHtoD_v2(address, own, 8192));
        assertThat(device.standIn.count(Count.PAGEABLE)).isEqualTo(pageable);
        MemorySegment out = device.arena.allocate(C_LONG);
        require(cuMemHostGetDevicePointer_v2(out, own, 0));
        assertThat(out.get(C_LONG, 0)).isEqualTo(own.address());
        require(cuMemHostUnregister(own));
        assertThat(Result.of(cuMemHostUnregister(own))).isEqualTo("CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED");
        assertThat(Result.of(cuMemFreeHost(own))).isEqualTo(INVALID_VALUE);
        MemorySegment pinned = device.pinned(64);
        assertThat(device.standIn.count(Count.HOST)).isOne();
        require(cuMemFreeHost(pinned));
        assertThat(Result.of(cuMemFreeHost(pinned))).isEqualTo(INVALID_VALUE);
        assertThat(Result.of(cuMemHostRegister_v2(MemorySegment.ofAddress(4096), 4096, 0)))
                .as("not memory of this process")
                .isEqualTo(INVALID_VALUE);
        require(cuMemFree_v2(address));
    }

    @Test
    void shouldKeepTheCurrentContextForEachThread() throws Exception {
        var response = new FutureTask<>(() -> Result.of(cuMemAlloc_v2(device.arena.allocate(C_LONG), 4)));
        Thread.ofPlatform().start(response).join();
        assertThat(response.get()).isEqualTo("CUDA_ERROR_INVALID_CONTEXT");

        MemorySegment out = device.arena.allocate(C_POINTER);
        try (StandInDevice other = StandInDevice.open(1)) {
            require(cuCtxPushCurrent_v2(device.context));
            require(cuCtxGetDevice(out));
            assertThat(out.get(C_INT, 0)).isZero();
            require(cuCtxPopCurrent_v2(out));
            assertThat(out.get(C_POINTER, 0)).isEqualTo(device.context);
            require(cuCtxGetDevice(out));
            assertThat(out.get(C_INT, 0)).isEqualTo(other.ordinal);
        }
        assertThat(Result.of(cuCtxPopCurrent_v2(out))).as("none is left").isEqualTo("CUDA_ERROR_INVALID_CONTEXT");
        require(cuCtxSetCurrent(device.context));
    }

    @Test
    void shouldNoticeAContextThatHasEnded() {
        MemorySegment out = device.arena.allocate(C_POINTER);
        require(cuDevicePrimaryCtxRetain(out, 1));
        MemorySegment ended = out.get(C_POINTER, 0);
        require(cuCtxPushCurrent_v2(ended));
        require(cuMemAlloc_v2(out, 8));
        require(cuDevicePrimaryCtxRelease_v2(1));
        assertThat(device.standIn.count(Count.ALLOCATIONS))
                .as("the context took its memory along")
                .isZero();
        assertThat(Result.of(cuMemAlloc_v2(out, 8))).isEqualTo("CUDA_ERROR_CONTEXT_IS_DESTROYED");
        require(cuCtxPopCurrent_v2(out));
        assertThat(Result.of(cuCtxPushCurrent_v2(ended))).isEqualTo("CUDA_ERROR_INVALID_CONTEXT");
        assertThat(Result.of(cuDevicePrimaryCtxRelease_v2(1))).isEqualTo("CUDA_ERROR_INVALID_CONTEXT");
    }

    @Test
    void shouldFillMemory() {
        long address = device.allocate(16);
        require(cuMemsetD8_v2(address, (byte) 1, 8));
        require(cuMemsetD32Async(address + 8, 7, 2, MemorySegment.NULL));
        assertThat(device.ints(address, 4)).containsExactly(0x01010101, 0x01010101, 7, 7);
        assertThat(Result.of(cuMemsetD32Async(address + 2, 7, 1, MemorySegment.NULL)))
                .as("not aligned")
                .isEqualTo(INVALID_VALUE);
        require(cuMemFree_v2(address));
    }

    @Test
    void shouldLetNoOtherDeviceTouchItsMemoryUnlessByACopy() {
        long address = device.allocateInts(5);
        try (StandInDevice other = StandInDevice.open(1)) {
            assertThat(Result.of(cuCtxEnablePeerAccess(device.context, 0)))
                    .isEqualTo("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED");
            long copy = other.allocate(4);
            require(cuMemcpyDtoD_v2(copy, address, 4));
            assertThat(other.ints(copy, 1)).containsExactly(5);
            require(cuMemFree_v2(copy));
        }
        require(cuCtxSetCurrent(device.context));
        require(cuMemFree_v2(address));
    }

    @Test
    void shouldHaveAnAddressThatTheHostCannotTouch() throws Exception {
        long address = device.allocate(4096);
        String mapping = Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> {
                    String[] range = line.substring(0, line.indexOf(' ')).split("-", -1);
                    return Long.compareUnsigned(Long.parseUnsignedLong(range[0], 16), address) <= 0
                            && Long.compareUnsigned(address, Long.parseUnsignedLong(range[1], 16)) < 0;
                })
                .findFirst()
                .orElseThrow();
        assertThat(mapping).contains(" ---p ");
        require(cuMemFree_v2(address));
    }
}
