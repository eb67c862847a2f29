// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import gatun.memory.cuda.CudaAllocation;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.UUID;

/**
 * Picture and response in the memory of the first GPU. The server opens that memory by the handle that CUDA gives for
 * it; a model that runs on that GPU works there in place. The bytes are copied through ordinary memory of the same
 * size.
 */
final class CudaPicture implements PictureMemory {
    private static final ValueLayout.OfFloat FP32 = ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final String name = "gatun-digit-" + UUID.randomUUID();
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment host = arena.allocate(SIZE);
    private final CudaAllocation memory;

    private CudaPicture(CudaAllocation memory) {
        this.memory = memory;
    }

    /**
     * Takes memory of the first GPU.
     *
     * @throws DigitException if there is none, or it has no room
     */
    static CudaPicture create() {
        CudaDevice gpu = CudaDevices.find()
                .device(0)
                .orElseThrow(() -> new DigitException(
                        "CUDA shared memory needs a GPU. " + CudaDevices.find().absence() + "."));
        try {
            return new CudaPicture(CudaAllocation.of(gpu, SIZE));
        } catch (GatunException e) {
            throw new DigitException("Cannot take " + SIZE + " bytes of " + gpu + ": " + e.getMessage() + ".", e);
        }
    }

    @Override
    public String name() {
        return name;
    }

    /** The handle by which the server opens the memory: 64 bytes, as they are registered. */
    byte[] handle() {
        return memory.handle();
    }

    /** The same as text. */
    String handleText() {
        return Base64.getEncoder().encodeToString(handle());
    }

    /** The GPU's number. */
    int device() {
        return memory.memory().device();
    }

    @Override
    public void put(DigitPicture picture) {
        float[] pixels = picture.pixels();
        MemorySegment.copy(pixels, 0, host, FP32, INPUT_OFFSET, pixels.length);
        memory.write(INPUT_OFFSET, host.asSlice(INPUT_OFFSET, INPUT_SIZE));
    }

    @Override
    public float[] probabilities() {
        MemorySegment response = host.asSlice(OUTPUT_OFFSET, OUTPUT_SIZE);
        memory.read(OUTPUT_OFFSET, response);
        return response.toArray(FP32);
    }

    @Override
    public void unlink() {
        // The memory ends with the process.
    }

    @Override
    public void close() {
        memory.close();
        arena.close();
    }
}
