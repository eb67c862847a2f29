// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.posix.posix_h;

/**
 * The result of {@code fstat} for an open file.
 *
 * @param byteSize size of the file in bytes
 * @param allocatedByteSize bytes that have memory or disk space behind them; less than {@code byteSize} in a file with
 *     holes
 * @param device number of the file system; together with {@code inode} it tells whether two descriptors name one object
 * @param inode number of the file in its file system
 * @param uid the owner's user number
 * @param mode type and permission bits, as in C
 */
public record FileStatus(long byteSize, long allocatedByteSize, long device, long inode, int uid, int mode) {
    /** Whether this is a regular file, which is what shared memory objects are. */
    public boolean isRegularFile() {
        return (mode & posix_h.S_IFMT()) == posix_h.S_IFREG();
    }
}
