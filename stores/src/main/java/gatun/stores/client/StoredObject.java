// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import java.util.List;

/** A listed object. {@code etag} changes with the content; {@code checksums} are those that the listing has. */
public record StoredObject(String name, String etag, long byteSize, List<Checksum> checksums) {
    /** Keeps a copy of the list. */
    public StoredObject {
        checksums = List.copyOf(checksums);
    }
}
