// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.bindings.FileStatus;

/**
 * Which shared memory object something is: two mappings of the same identity, both still open, are of the same memory.
 *
 * @param device number of the file system
 * @param inode number of the object in it
 */
record ObjectIdentity(long device, long inode) {
    /** The identity of an open object. */
    static ObjectIdentity of(FileStatus file) {
        return new ObjectIdentity(file.device(), file.inode());
    }
}
