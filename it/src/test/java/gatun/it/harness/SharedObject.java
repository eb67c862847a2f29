// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/** A POSIX shared memory object of this process; on Linux it is a file of {@code /dev/shm}. Removed when closed. */
public final class SharedObject implements AutoCloseable {
    private static final Path FOLDER = Path.of("/dev/shm");

    private final Path file;

    private SharedObject(Path file) {
        this.file = file;
    }

    /** An object of that many bytes, all zero. */
    public static SharedObject create(long byteSize) throws IOException {
        SharedObject object =
                new SharedObject(FOLDER.resolve(prefix(ProcessHandle.current().pid()) + UUID.randomUUID()));
        object.resize(0);
        // Written, not only sized: every page exists.
        try (RandomAccessFile out = new RandomAccessFile(object.file.toFile(), "rw")) {
            byte[] zeros = new byte[(int) Math.min(byteSize, 1 << 20)];
            for (long left = byteSize; left > 0; left -= zeros.length) {
                out.write(zeros, 0, (int) Math.min(left, zeros.length));
            }
        }
        return object;
    }

    /** Removes the objects that a killed process has left. */
    public static void removeAllOf(long pid) {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(FOLDER, prefix(pid) + "*")) {
            for (Path object : left) {
                Files.delete(object);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the objects of process " + pid + " cannot be removed", e);
        }
    }

    private static String prefix(long pid) {
        return "gatun-it-" + pid + "-";
    }

    /** The key that a client registers it by. */
    public String key() {
        return "/" + file.getFileName();
    }

    /** Makes it shorter or longer, even while others use it. */
    public void resize(long byteSize) throws IOException {
        try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
            out.setLength(byteSize);
        }
    }

    public void write(long offset, byte[] bytes) throws IOException {
        try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
            out.seek(offset);
            out.write(bytes);
        }
    }

    public ByteBuffer read(long offset, int byteSize) throws IOException {
        byte[] bytes = new byte[byteSize];
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            in.seek(offset);
            in.readFully(bytes);
        }
        return ByteBuffer.wrap(bytes);
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(file);
    }
}
