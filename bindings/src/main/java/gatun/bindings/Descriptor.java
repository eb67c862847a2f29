// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Owns one open file descriptor of this process. {@link #close} may be called from any thread and more than once; the
 * owner makes sure that no call on it is under way, since the system reuses the number at once.
 */
public final class Descriptor implements AutoCloseable {
    private final int number;
    private final String origin;
    private final AtomicBoolean closed = new AtomicBoolean();

    Descriptor(int number, String origin) {
        this.number = number;
        this.origin = origin;
    }

    /** The number by which the system knows it. Throws {@link IllegalStateException} after {@link #close}. */
    public int number() {
        if (closed.get()) {
            throw new IllegalStateException("descriptor " + number + " of " + origin + " was used after it was closed");
        }
        return number;
    }

    /** Closes the descriptor. Mappings made from it stay. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            Posix.close(number, toString());
        }
    }

    /** Number and origin, for messages to the operator. */
    @Override
    public String toString() {
        return "descriptor " + number + " of " + origin;
    }
}
