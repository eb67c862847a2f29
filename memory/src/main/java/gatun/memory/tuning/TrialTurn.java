// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tuning;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Lets one tuner try at a time, of those whose runs are the same: what one of them tries would be taken for what the other
 * does. A tuner that does not come to the end of its trials, since nobody asks it any more, loses the turn to the next.
 * Safe for any thread.
 */
public final class TrialTurn {
    /** A tuner whose trials have stood still while others asked for the turn so often has none to finish. */
    private static final int PATIENCE = 256;

    private final AtomicReference<@Nullable Tuner> holder = new AtomicReference<>();

    /** How often the turn was refused since its holder was seen; a lost update makes others wait a little longer. */
    private volatile int refused;

    /** A turn that nobody has. */
    public TrialTurn() {}

    /** Gives the turn to {@code tuner}, if nobody has it, or whoever has it does not go on. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // a lost one does no harm
    boolean take(Tuner tuner) {
        Tuner present = holder.get();
        if (present != null && refused < PATIENCE) {
            refused++;
            return false;
        }
        refused = 0;
        return holder.compareAndSet(present, tuner);
    }

    /** Whether {@code tuner} still has the turn, and goes on. */
    @SuppressWarnings("ReferenceEquality") // a tuner is one object
    boolean isOf(Tuner tuner) {
        refused = 0;
        return holder.get() == tuner;
    }

    void giveBack(Tuner tuner) {
        holder.compareAndSet(tuner, null);
    }
}
