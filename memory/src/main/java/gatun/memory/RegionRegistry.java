package gatun.memory;

import java.util.List;

/** The shared-memory regions that clients registered, by name. Safe for any thread. */
public interface RegionRegistry extends AutoCloseable {
    /** What a request will do with a window. */
    enum Access {
        /** Read inputs from it. */
        READ,
        /**
         * Read inputs that are parsed, as BYTES are: the lease's memory is a private copy, taken when it is borrowed, so
         * that the client cannot change a length between check and use.
         */
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
     * The region of that name.
     *
     * @throws GatunException NOT_FOUND
     */
    RegionStatus status(String name);

    /** All regions, by name. */
    List<RegionStatus> statuses();

    /**
     * What to say to a client that asks for a CUDA region of that name while there are none.
     *
     * @return NOT_FOUND with the protocol's text, which is another one where {@link #statuses} has the name
     */
    default GatunException noCudaRegion(String name) {
        boolean registered =
                statuses().stream().anyMatch(region -> region.name().equals(name));
        return RegionErrors.noCudaRegion(name, registered);
    }

    /** Forgets a region; it is unmapped when the last request that uses it ends. An unknown name changes nothing. */
    void unregister(String name);

    /** Forgets all regions. */
    void unregisterAll();

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
