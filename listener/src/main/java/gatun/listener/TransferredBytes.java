// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How many bytes have gone over a connection's socket, those of TLS included. One thread at a time reads the connection
 * and counts what came, and one at a time writes to it and counts what was sent; any thread may look, and sees a number
 * that may be a moment old.
 */
public final class TransferredBytes {
    private static final VarHandle IN;
    private static final VarHandle OUT;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            IN = lookup.findVarHandle(TransferredBytes.class, "in", long.class);
            OUT = lookup.findVarHandle(TransferredBytes.class, "out", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long in;
    private long out;

    /** {@code count} bytes came, or the end where it is negative. For the reading thread. */
    public void came(long count) {
        if (count > 0) {
            IN.setOpaque(this, in + count);
        }
    }

    /** {@code count} bytes were sent. For the writing thread. */
    public void sent(long count) {
        OUT.setOpaque(this, out + count);
    }

    /** How many bytes the client has sent. */
    public long in() {
        return (long) IN.getOpaque(this);
    }

    /** How many bytes the client was sent, as far as the system has taken them. */
    public long out() {
        return (long) OUT.getOpaque(this);
    }
}
