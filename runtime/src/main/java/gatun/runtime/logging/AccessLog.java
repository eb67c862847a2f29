// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

/** Where the entry of each request goes. Safe for any thread. */
public interface AccessLog {
    /** Keeps nothing. */
    AccessLog OFF = new AccessLog() {
        @Override
        public boolean isOn() {
            return false;
        }

        @Override
        public boolean write(AccessEntry entry) {
            return false; // Nobody asked for it.
        }

        @Override
        public long writtenCount() {
            return 0;
        }

        @Override
        public long droppedCount() {
            return 0;
        }
    };

    /** Whether entries are wanted now, which may change at any time. Where they are not, none need be made. */
    boolean isOn();

    /** Whether it writes a line for each entry; always the same. */
    default boolean hasLines() {
        return isOn();
    }

    /**
     * Takes an entry. Waits for nothing: what there is no room for is dropped.
     *
     * @return whether the entry is kept, so that nobody may change it any more
     */
    boolean write(AccessEntry entry);

    /** How many entries have been written. */
    long writtenCount();

    /** How many entries were dropped, since they came faster than they could be written or could not be written. */
    long droppedCount();
}
