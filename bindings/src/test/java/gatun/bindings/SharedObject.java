// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/** A client's POSIX shared memory object, removed on close. */
final class SharedObject implements AutoCloseable {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final String key;
    private final Descriptor file;
    private final long byteSize;

    private SharedObject(String key, Descriptor file, long byteSize) {
        this.key = key;
        this.file = file;
        this.byteSize = byteSize;
    }

    static SharedObject create(long byteSize) {
        String key = "/" + prefix(ProcessHandle.current().pid()) + COUNT.incrementAndGet();
        Descriptor file = Posix.shmOpen(key, Posix.O_RDWR | Posix.O_CREAT | Posix.O_EXCL, 0600);
        Posix.ftruncate(file, byteSize);
        return new SharedObject(key, file, byteSize);
    }

    /** Removes the objects that a killed process has left. */
    static void removeAllOf(long pid) {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(Path.of("/dev/shm"), prefix(pid) + "*")) {
            for (Path object : left) {
                Files.delete(object);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the objects of process " + pid + " cannot be removed", e);
        }
    }

    private static String prefix(long pid) {
        return "gatun-test-" + pid + "-";
    }

    String key() {
        return key;
    }

    /** Maps the whole object; the caller unmaps it. */
    long map() {
        return Posix.map(byteSize, Posix.PROT_READ | Posix.PROT_WRITE, Posix.MAP_SHARED, file, 0);
    }

    void fill(byte value) {
        long address = map();
        NativeMemory.segment(address, byteSize).fill(value);
        Posix.munmap(address, byteSize);
    }

    void truncate(long newByteSize) {
        Posix.ftruncate(file, newByteSize);
    }

    @Override
    public void close() {
        file.close();
        Posix.shmUnlink(key);
    }
}
