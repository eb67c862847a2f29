// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

/** Is told of each request that has ended. Safe for any thread. */
@FunctionalInterface
public interface RequestWatch {
    /**
     * A request has ended, with whatever result. Called by the thread that answered it: to return at once, without
     * waiting for anything, and without keeping the entry, which may become another request's.
     */
    void ended(AccessEntry entry);
}
