// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.cuda.CudaAllocation;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.regions.SharedMemoryObject;
import gatun.memory.tensor.DeviceMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory of this process that a server on the same machine may see. Owned by one {@link SharedTensors}. */
sealed interface SharedRegion {
    int ZEROS_BYTES = 1 << 20;

    void register(RegionControl regions, String name);

    void unregister(RegionControl regions, String name);

    /** All of the memory; refused where the processor cannot reach it. */
    MemorySegment segment();

    /** All of the memory of a GPU; refused where it is none. */
    DeviceMemory device();

    /** Copies {@code source}, on the heap or not, to {@code offset}. */
    void write(long offset, MemorySegment source);

    /** Copies from {@code offset} to all of {@code target}, on the heap or not. */
    void read(long offset, MemorySegment target);

    /** The bytes from {@code offset} on: the memory itself, or a copy where the processor cannot reach it. */
    MemorySegment view(long offset, long byteSize);

    /** Removes the memory's name, so that nothing is left when the process ends; the memory stays. */
    void forget();

    void free();

    /** Memory of the system. {@code object} holds it. */
    record OfSystem(SharedMemoryObject object) implements SharedRegion {
        @Override
        public void register(RegionControl regions, String name) {
            regions.register(name, object.key(), 0, object.segment().byteSize());
        }

        @Override
        public void unregister(RegionControl regions, String name) {
            regions.unregister(name);
        }

        @Override
        public MemorySegment segment() {
            return object.segment();
        }

        @Override
        public DeviceMemory device() {
            throw new IllegalStateException("the tensors lie in memory of the system, not on a GPU: use input() and"
                    + " output(), or make them with SharedTensors.cuda()");
        }

        @Override
        public void write(long offset, MemorySegment source) {
            MemorySegment.copy(source, 0, object.segment(), offset, source.byteSize());
        }

        @Override
        public void read(long offset, MemorySegment target) {
            MemorySegment.copy(object.segment(), offset, target, 0, target.byteSize());
        }

        @Override
        public MemorySegment view(long offset, long byteSize) {
            return object.segment().asSlice(offset, byteSize);
        }

        @Override
        public void forget() {
            object.unlink();
        }

        @Override
        public void free() {
            object.close();
        }
    }

    /** Memory of a GPU. {@code allocation} holds it. */
    record OfGpu(CudaAllocation allocation) implements SharedRegion {
        static OfGpu allocate(int ordinal, long byteSize) {
            CudaDevices devices = CudaDevices.find();
            CudaDevice device = devices.device(ordinal)
                    .orElseThrow(() -> new IllegalArgumentException("GPU " + ordinal + " was asked for: "
                            + (devices.count() == 0
                                    ? "there is none, " + devices.absence()
                                    : "expected 0 to " + (devices.count() - 1))));
            CudaAllocation allocation = CudaAllocation.of(device, byteSize);
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment zeros = scratch.allocate(Math.min(byteSize, ZEROS_BYTES));
                for (long at = 0; at < byteSize; at += zeros.byteSize()) {
                    allocation.write(at, zeros.asSlice(0, Math.min(zeros.byteSize(), byteSize - at)));
                }
                return new OfGpu(allocation);
            } catch (Throwable t) {
                allocation.close();
                throw t;
            }
        }

        @Override
        public void register(RegionControl regions, String name) {
            DeviceMemory memory = allocation.memory();
            regions.registerCuda(name, allocation.handle(), memory.device(), memory.byteSize());
        }

        @Override
        public void unregister(RegionControl regions, String name) {
            regions.unregisterCuda(name);
        }

        @Override
        public MemorySegment segment() {
            throw new IllegalStateException("the tensors lie on GPU "
                    + allocation.memory().device() + ", which the processor cannot reach: use set() and floats() and"
                    + " their like, write() and read(), or the addresses of inputOnGpu() and outputOnGpu()");
        }

        @Override
        public DeviceMemory device() {
            return allocation.memory();
        }

        @Override
        public void write(long offset, MemorySegment source) {
            if (source.isNative()) {
                allocation.write(offset, source);
                return;
            }
            try (Arena scratch = Arena.ofConfined()) {
                allocation.write(offset, scratch.allocate(source.byteSize()).copyFrom(source));
            }
        }

        @Override
        public void read(long offset, MemorySegment target) {
            if (target.isNative()) {
                allocation.read(offset, target);
                return;
            }
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment copy = scratch.allocate(target.byteSize());
                allocation.read(offset, copy);
                target.copyFrom(copy);
            }
        }

        @Override
        public MemorySegment view(long offset, long byteSize) {
            if (byteSize > Integer.MAX_VALUE - Long.BYTES) {
                throw new IllegalArgumentException("a tensor of " + byteSize
                        + " bytes is too large for an array: copy it from the GPU with read()");
            }
            MemorySegment copy = MemorySegment.ofArray(new byte[(int) byteSize]);
            read(offset, copy);
            return copy;
        }

        @Override
        public void forget() {
            // The driver frees it with the process.
        }

        @Override
        public void free() {
            allocation.close();
        }
    }
}
