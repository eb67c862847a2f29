// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

/**
 * When the server itself begins a log file anew.
 *
 * @param byteSize the size from which on the file is put aside; 0 for never
 * @param files how many files that were put aside are kept; at least 1
 */
public record LogRotation(long byteSize, int files) {
    /** Files grow until somebody else moves them away. */
    public static final LogRotation NONE = new LogRotation(0, 5);
}
