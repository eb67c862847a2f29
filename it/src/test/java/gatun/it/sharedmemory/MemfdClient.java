// SPDX-License-Identifier: Apache-2.0
package gatun.it.sharedmemory;

import gatun.bindings.Descriptor;
import gatun.bindings.Posix;
import gatun.memory.regions.SharedMemoryObject;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** A client in a process of its own that offers the memory behind one of its descriptors, and waits to be killed. */
public final class MemfdClient {
    /** How many floats its memory holds: the first half are tensors, and the second half is room for responses. */
    public static final int ELEMENTS = 64;

    /** The memory's size. */
    public static final long BYTE_SIZE = (long) ELEMENTS * Float.BYTES;

    private static final ValueLayout.OfFloat FP32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private MemfdClient() {}

    /** The values that the client writes into its memory, seeded so that two clients do not write the same. */
    public static float[] tensor(int seed) {
        float[] values = new float[ELEMENTS / 2];
        for (int i = 0; i < values.length; i++) {
            values[i] = 1000 * seed + i + 0.5f;
        }
        return values;
    }

    /** Offers what its first argument says: "sealed" and a seed, "unsealed", or "file" and a path. */
    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "sealed" -> {
                try (SharedMemoryObject object = SharedMemoryObject.sealed(BYTE_SIZE)) {
                    float[] values = tensor(Integer.parseInt(arguments[1]));
                    MemorySegment.copy(values, 0, object.segment(), FP32, 0, values.length);
                    offer(object.key());
                }
            }
            case "unsealed" -> {
                try (Descriptor object = Posix.memfdCreate("client", Posix.MFD_CLOEXEC | Posix.MFD_ALLOW_SEALING)) {
                    Posix.ftruncate(object, BYTE_SIZE);
                    offer(object);
                }
            }
            case "file" -> {
                try (Descriptor object = Posix.open(arguments[1], Posix.O_RDWR)) {
                    offer(object);
                }
            }
            default -> throw new IllegalArgumentException(arguments[0] + " is not a kind of memory");
        }
    }

    private static void offer(Descriptor object) throws Exception {
        offer("/proc/" + ProcessHandle.current().pid() + "/fd/" + object.number());
    }

    private static void offer(String key) throws Exception {
        System.out.println("exported " + key);
        while (System.in.read() >= 0) {
            // Nobody writes: waits for the end.
        }
    }
}
