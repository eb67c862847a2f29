package gatun.memory;

import gatun.bindings.Descriptor;
import gatun.bindings.NativeMemory;
import gatun.bindings.Posix;
import java.lang.foreign.MemorySegment;

/**
 * The client's side of a region: owns a shared-memory object of this process, mapped for reading and writing. Close it after the region was
 * unregistered; memory that is still mapped by the server stays there until the server lets go.
 */
public final class SharedMemoryObject implements AutoCloseable {
    private static final int OWNER_ONLY = 0600;

    private final Descriptor object;
    private final String key;
    private final boolean named;
    private final MemorySegment segment;
    private boolean closed;

    private SharedMemoryObject(Descriptor object, String key, boolean named, long byteSize) {
        this.object = object;
        this.key = key;
        this.named = named;
        long address = Posix.map(byteSize, Posix.PROT_READ | Posix.PROT_WRITE, Posix.MAP_SHARED, object, 0);
        this.segment = NativeMemory.segment(address, byteSize);
    }

    /**
     * Makes a POSIX object, which any server can register. It is this process's to remove: {@link #close} does.
     *
     * @param key its name, beginning with a slash and without another
     * @param byteSize its size, at least 1
     * @throws gatun.bindings.SystemCallException when it exists already, or the system refuses
     */
    public static SharedMemoryObject posix(String key, long byteSize) {
        Descriptor object = Posix.shmOpen(key, Posix.O_CREAT | Posix.O_EXCL | Posix.O_RDWR, OWNER_ONLY);
        try {
            Posix.ftruncate(object, byteSize);
            return new SharedMemoryObject(object, key, true, byteSize);
        } catch (RuntimeException | Error e) {
            object.close();
            Posix.shmUnlink(key);
            throw e;
        }
    }

    /**
     * Makes a memfd that nobody can truncate, which Gatun uses without a guard. It has no name in the file system, and is gone with the last
     * process that has it open. Its key is valid for servers of the same user.
     *
     * @param byteSize its size, at least 1
     * @throws gatun.bindings.SystemCallException when the system refuses
     */
    public static SharedMemoryObject sealed(long byteSize) {
        Descriptor object = Posix.memfdCreate("gatun", Posix.MFD_CLOEXEC | Posix.MFD_ALLOW_SEALING);
        try {
            Posix.ftruncate(object, byteSize);
            Posix.addSeals(object, Posix.F_SEAL_SHRINK);
            String key = "/proc/" + ProcessHandle.current().pid() + "/fd/" + object.number();
            return new SharedMemoryObject(object, key, false, byteSize);
        } catch (RuntimeException | Error e) {
            object.close();
            throw e;
        }
    }

    /** What to register the region with. */
    public String key() {
        return key;
    }

    /** The memory. Valid until {@link #close}; this process sees what the server writes and the other way round. */
    public MemorySegment segment() {
        return segment;
    }

    /** Changes the object's size; memory behind a smaller one must not be touched any more. A sealed object refuses. */
    public void resize(long byteSize) {
        Posix.ftruncate(object, byteSize);
    }

    /** Unmaps the memory, and removes the object's name when it has one. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        Posix.munmap(segment.address(), segment.byteSize());
        object.close();
        if (named) {
            Posix.shmUnlink(key);
        }
    }
}
