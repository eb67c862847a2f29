// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import java.util.List;

/**
 * An object of a store as it was listed.
 *
 * @param name the whole name
 * @param etag what changes with the content
 * @param byteSize how many bytes it has
 * @param checksums what its bytes must give, as far as the listing says
 */
public record StoredObject(String name, String etag, long byteSize, List<Checksum> checksums) {
    /** Keeps a copy of the list. */
    public StoredObject {
        checksums = List.copyOf(checksums);
    }
}
