// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/** The registration of a listener, which is notified until this is closed. Owned by whoever subscribed. */
public interface Subscription extends AutoCloseable {
    /** Ends it; a call of the listener that is under way on another thread may still end later. */
    @Override
    void close();
}
