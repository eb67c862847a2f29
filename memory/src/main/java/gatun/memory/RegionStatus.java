package gatun.memory;

/**
 * A registered system shared-memory region, as status calls list it.
 *
 * @param name the client's name for it
 * @param key the shared-memory object
 * @param offset where the region starts in the object, in bytes
 * @param byteSize its size in bytes
 */
public record RegionStatus(String name, String key, long offset, long byteSize) {}
