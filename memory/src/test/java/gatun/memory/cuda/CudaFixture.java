// SPDX-License-Identifier: Apache-2.0
package gatun.memory.cuda;

import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.RegionLease;
import gatun.testing.CudaStandIn;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** Things that tests on a GPU share: the device, or the reason to skip, and bytes to copy. */
final class CudaFixture {
    private CudaFixture() {}

    /** GPU {@code ordinal}, current for this thread; skips the test where there is none. */
    static CudaDevice device(int ordinal) {
        Optional<CudaDevice> device = CudaDevices.find().device(ordinal);
        assumeThat(device)
                .as("GPU " + ordinal + ": " + CudaDevices.find().absence())
                .isPresent();
        device.orElseThrow().makeCurrent();
        return device.orElseThrow();
    }

    /** The stand-in's controls; skips the test where a real driver is at work. */
    static CudaStandIn standIn() {
        assumeThat(CudaStandIn.loaded()).as("the stand-in for CUDA's driver").isPresent();
        return CudaStandIn.loaded().orElseThrow();
    }

    /** {@code count} bytes that differ from those of another seed. */
    static MemorySegment bytes(Arena arena, int count, int seed) {
        MemorySegment bytes = arena.allocate(count, 64);
        for (int i = 0; i < count; i++) {
            bytes.set(ValueLayout.JAVA_BYTE, i, (byte) (31 * i + seed));
        }
        return bytes;
    }

    /** The bytes in {@code memory}. */
    static byte[] read(CudaDevice device, DeviceMemory memory) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(Math.max(1, memory.byteSize()));
            device.copyToHost(memory, copy.asSlice(0, memory.byteSize()));
            return copy.asSlice(0, memory.byteSize()).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** A window that is on a GPU, and nowhere else. */
    static RegionLease window(DeviceMemory memory) {
        return new RegionLease() {
            @Override
            public MemorySegment segment() {
                throw new AssertionError("the window was to be used where it is");
            }

            @Override
            public Optional<DeviceMemory> device() {
                return Optional.of(memory);
            }

            @Override
            public long byteSize() {
                return memory.byteSize();
            }

            @Override
            public void settle() {}

            @Override
            public void close() {}
        };
    }
}
