// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import java.util.function.Supplier;

/**
 * Picture and response lie in shared memory: the engine reads the one and writes the other in place, and the connection
 * carries only their names. The memory is registered for the client's whole life.
 */
final class SharedMemoryClient implements DigitClient {
    private final RegionControl control;
    private final PictureMemory shared;

    private SharedMemoryClient(RegionControl control, PictureMemory shared) {
        this.control = control;
        this.shared = shared;
    }

    /** Makes memory and registers it. Owns {@code control} from here on, also when it fails. */
    static SharedMemoryClient open(RegionControl control, Supplier<PictureMemory> memory) {
        try {
            PictureMemory shared = memory.get();
            // The object's name outlives its process: a program that is interrupted must remove it too.
            Runtime.getRuntime().addShutdownHook(new Thread(shared::unlink, "remove-shared-memory"));
            try {
                control.register(shared);
                return new SharedMemoryClient(control, shared);
            } catch (RuntimeException e) {
                shared.close();
                throw e;
            }
        } catch (RuntimeException e) {
            control.close();
            throw e;
        }
    }

    @Override
    public float[] probabilities(DigitPicture picture) {
        shared.put(picture);
        control.infer(shared);
        return shared.probabilities();
    }

    @Override
    public void close() {
        try {
            control.unregister(shared);
        } catch (DigitException e) {
            // The server is gone, and its mapping with it.
        } finally {
            shared.close();
            control.close();
        }
    }
}
