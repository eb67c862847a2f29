// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.bindings.Descriptor;
import gatun.bindings.Errno;
import gatun.bindings.NativeMemory;
import gatun.bindings.Posix;
import gatun.bindings.SystemCallException;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * The client's side of a region: owns a shared-memory object of this process, mapped for reading and writing. Close it
 * after the region was unregistered; memory that is still mapped by the server stays there until the server lets go.
 * Any thread may use the memory; closing it is for one.
 */
public final class SharedMemoryObject implements AutoCloseable {
    private static final int OWNER_ONLY = 0600;

    private final Descriptor object;
    private final String key;
    private final boolean named;
    private final AtomicBoolean linked = new AtomicBoolean(true);
    private final Arena lifetime;
    private final MemorySegment segment;

    private SharedMemoryObject(Descriptor object, String key, boolean named, long byteSize) {
        this.object = object;
        this.key = key;
        this.named = named;
        long address = Posix.map(byteSize, Posix.PROT_READ | Posix.PROT_WRITE, Posix.MAP_SHARED, object, 0);
        this.lifetime = Arena.ofShared();
        this.segment = NativeMemory.segment(address, byteSize, lifetime, () -> Posix.munmap(address, byteSize));
    }

    /**
     * Makes a POSIX object, which any server can register. It is this process's to remove: {@link #close} does.
     *
     * @param key its name, beginning with a slash and without another
     * @param byteSize its size, at least 1
     * @throws GatunException ALREADY_EXISTS when the name is taken, UNAVAILABLE or INVALID_ARGUMENT when the system
     *     refuses
     */
    public static SharedMemoryObject posix(String key, long byteSize) {
        return translated(() -> {
            Descriptor object = Posix.shmOpen(key, Posix.O_CREAT | Posix.O_EXCL | Posix.O_RDWR, OWNER_ONLY);
            try {
                Posix.ftruncate(object, byteSize);
                return new SharedMemoryObject(object, key, true, byteSize);
            } catch (RuntimeException | Error e) {
                object.close();
                Posix.shmUnlink(key);
                throw e;
            }
        });
    }

    /**
     * Makes a memfd that nobody can truncate, which Gatun uses without a guard. It has no name in the file system, and
     * is gone with the last process that has it open. Its key is valid for servers of the same user, while it is open
     * here.
     *
     * @param byteSize its size, at least 1
     * @throws GatunException UNAVAILABLE or INVALID_ARGUMENT when the system refuses
     */
    public static SharedMemoryObject sealed(long byteSize) {
        return translated(() -> {
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
        });
    }

    /** The key to register the region with. */
    public String key() {
        return key;
    }

    /** The memory that the server sees too. After {@link #close} access fails with {@link IllegalStateException}. */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Changes the object's size; memory behind a smaller one must not be touched any more.
     *
     * @throws GatunException INVALID_ARGUMENT when the object is sealed
     */
    public void resize(long byteSize) {
        translated(() -> {
            Posix.ftruncate(object, byteSize);
            return this;
        });
    }

    /**
     * Removes the object's name, when it has one, now: nobody can open it any more, and it goes with the last process
     * that has it open. A second call does nothing, nor does one after somebody else has removed it.
     *
     * @throws GatunException when the system refuses
     */
    public void unlink() {
        if (named && linked.compareAndSet(true, false)) {
            translated(() -> {
                try {
                    Posix.shmUnlink(key);
                } catch (SystemCallException e) {
                    if (!e.is(Errno.ENOENT)) {
                        throw e;
                    }
                }
                return this;
            });
        }
    }

    /**
     * Unmaps the memory, and removes the object's name when it has one. A second call does nothing.
     *
     * @throws IllegalStateException while a native call of this process uses the memory; nothing is changed then
     */
    @Override
    public void close() {
        if (!lifetime.scope().isAlive()) {
            return;
        }
        lifetime.close();
        object.close();
        unlink();
    }

    private static SharedMemoryObject translated(Supplier<SharedMemoryObject> calls) {
        try {
            return calls.get();
        } catch (SystemCallException e) {
            ErrorCode code = ErrorCode.INVALID_ARGUMENT;
            if (e.is(Errno.EEXIST)) {
                code = ErrorCode.ALREADY_EXISTS;
            } else if (e.is(Errno.ENOSPC) || e.is(Errno.ENOMEM) || e.is(Errno.EMFILE) || e.is(Errno.ENFILE)) {
                code = ErrorCode.UNAVAILABLE;
            }
            throw new GatunException(code, "shared memory object: " + e.getMessage(), e);
        }
    }
}
