// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import java.lang.foreign.MemorySegment;

/** A hash that numbers, texts and bytes are added to, one after the other. Used by one thread. */
interface RequestHash {
    /** Adds a number. */
    void add(long word);

    /** Adds a text and its length. */
    void add(String text);

    /** Adds bytes and their number. */
    void add(MemorySegment bytes);
}
