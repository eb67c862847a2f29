// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.UUID;

/**
 * A POSIX shared memory object that holds a picture and room for the response. On Linux such objects are the files of
 * {@code /dev/shm}, so Java needs no native code to make one.
 * Owns the object and its mapping.
 */
final class SharedPicture implements PictureMemory {
    private static final Path OBJECTS = Path.of("/dev/shm");
    private static final ValueLayout.OfFloat FP32 = ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final String name;
    private final Path file;
    private final Arena mapping;
    private final MemorySegment bytes;

    private SharedPicture(String name, Path file, Arena mapping, MemorySegment bytes) {
        this.name = name;
        this.file = file;
        this.mapping = mapping;
        this.bytes = bytes;
    }

    /**
     * Makes an object under a fresh name.
     *
     * @throws DigitException if this machine has no shared memory, or none left
     */
    static SharedPicture create() {
        if (!Files.isDirectory(OBJECTS)) {
            throw new DigitException("Shared memory needs " + OBJECTS + ", which only Linux has.");
        }
        String name = "gatun-digit-" + UUID.randomUUID();
        Path file = OBJECTS.resolve(name);
        Arena mapping = Arena.ofConfined();
        try (FileChannel channel = FileChannel.open(
                file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE))) {
            // Written, not only enlarged: memory that is not there shows here as an error, and not later as a fault.
            ByteBuffer zeros = ByteBuffer.allocate((int) SIZE);
            while (zeros.hasRemaining()) {
                channel.write(zeros);
            }
            return new SharedPicture(name, file, mapping, channel.map(MapMode.READ_WRITE, 0, SIZE, mapping));
        } catch (IOException e) {
            mapping.close();
            unlink(file);
            throw new DigitException(
                    "Cannot make " + SIZE + " bytes of shared memory in " + OBJECTS + ": " + e + ".", e);
        }
    }

    @Override
    public String name() {
        return name;
    }

    /** The object's key as {@code shm_open} knows it. */
    String key() {
        return "/" + name;
    }

    @Override
    public void put(DigitPicture picture) {
        float[] pixels = picture.pixels();
        MemorySegment.copy(pixels, 0, bytes, FP32, INPUT_OFFSET, pixels.length);
    }

    @Override
    public float[] probabilities() {
        return bytes.asSlice(OUTPUT_OFFSET, OUTPUT_SIZE).toArray(FP32);
    }

    /** Removes the object's name and leaves the memory to those who have mapped it. */
    @Override
    public void unlink() {
        unlink(file);
    }

    private static void unlink(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            System.err.println("Cannot remove " + file + ": " + e + ". Remove it by hand.");
        }
    }

    @Override
    public void close() {
        mapping.close();
        unlink();
    }
}
