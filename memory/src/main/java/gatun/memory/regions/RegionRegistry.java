// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import java.util.List;

/** The regions of memory that clients registered, of the system and of GPUs, by name. Safe for any thread. */
public interface RegionRegistry extends AutoCloseable {
    /** The use that a request will make of a window. */
    enum Access {
        /** Read inputs from it. */
        READ,
        /** Inputs that are parsed, as BYTES: a private copy, so that clients cannot change checked lengths. */
        SNAPSHOT,
        /** Write outputs to it. */
        WRITE;

        /** How to borrow the memory of an input: strings are parsed, and therefore copied first. */
        public static Access forInput(Datatype datatype) {
            return datatype == Datatype.BYTES ? SNAPSHOT : READ;
        }
    }

    /**
     * Maps {@code byteSize} bytes at {@code offset} of the object {@code key} names and remembers them as {@code name}.
     * Offset and size are unsigned 64-bit numbers.
     *
     * @throws GatunException with the protocol's codes and texts; nothing is changed then
     */
    void register(String name, String key, long offset, long byteSize);

    /**
     * Maps all {@code byteSize} bytes of the sealed object that {@code key} names for one owner, who closes it: nobody
     * else can name or unregister it.
     *
     * @param name the region's name in errors
     * @throws GatunException with the protocol's codes and texts; nothing is changed then
     */
    default PrivateRegion openPrivate(String name, String key, long byteSize) {
        throw new GatunException(ErrorCode.UNSUPPORTED, "this server maps no memory of clients");
    }

    /** Whether this machine has a GPU whose memory can be registered. */
    boolean supportsCuda();

    /**
     * Opens GPU memory of another process, and remembers its first {@code byteSize} bytes, unsigned, as {@code name}.
     * {@code handle} is CUDA's for that process's allocation, 64 bytes; {@code device} is the GPU's number. Throws with
     * the protocol's codes and texts; nothing is changed then.
     */
    void registerCuda(String name, byte[] handle, long device, long byteSize);

    /** Throws INVALID_ARGUMENT where there is no GPU, before anything else of the request is looked at. */
    default void requireCuda(String name) {
        if (!supportsCuda()) {
            throw RegionErrors.cudaUnsupported(name);
        }
    }

    /** The region, of one kind; names are unique over both. Throws NOT_FOUND, telling of the other kind. */
    <S extends RegionStatus> S status(String name, Class<S> kind);

    /** All regions of both kinds, by name. */
    List<RegionStatus> statuses();

    /** All regions of both kinds and who uses them, by name. */
    default List<RegionUse> uses() {
        return List.of();
    }

    /** All regions of one kind, by name. */
    default <S extends RegionStatus> List<S> statuses(Class<S> kind) {
        return statuses().stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    /**
     * Forgets a region of either kind; where requests use it, it goes when the last of them ends. Until then it is
     * listed, and for some seconds further requests may use it. Its name can be given to another region at once. An
     * unknown name changes nothing.
     */
    default void unregister(String name) {
        unregister(name, RegionStatus.class);
    }

    /** As {@link #unregister(String)}, for a region of {@code kind}; one of the other kind stays. */
    void unregister(String name, Class<? extends RegionStatus> kind);

    /** Forgets all regions of both kinds. */
    default void unregisterAll() {
        unregisterAll(RegionStatus.class);
    }

    /** Forgets all regions of one kind. */
    default void unregisterAll(Class<? extends RegionStatus> kind) {
        statuses(kind).forEach(region -> unregister(region.name(), kind));
    }

    /**
     * Borrows a window of a region. Offset and size are unsigned 64-bit numbers.
     *
     * @throws GatunException NOT_FOUND or INVALID_ARGUMENT with the protocol's texts
     */
    RegionLease borrow(String name, long offset, long byteSize, Access access);

    /** Forgets all regions and takes no more. */
    @Override
    void close();
}
