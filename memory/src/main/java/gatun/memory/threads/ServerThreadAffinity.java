// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import gatun.bindings.CoreBinding;
import org.jspecify.annotations.Nullable;

/**
 * Lets a serving thread sleep on the core of its only caller, so that one who {@linkplain YieldBeforeBlock hands its core over}
 * need not wait for another core to wake up, ten times as long as all else in a virtual machine. With several callers
 * it sleeps anywhere. For one thread, bound only while it sleeps: what it starts when awake inherits nothing.
 */
public final class ServerThreadAffinity {
    /** After a request of another caller so many of one caller have to come in a row. */
    private static final int ALONE_FOR = 16;
    /** After a caller's move to another core it has to stay there for so many. */
    private static final int STILL_FOR = 2;

    private final CoreBinding binding = new CoreBinding();
    private @Nullable Object lastCaller;
    private int lastCore = YieldBeforeBlock.NO_CORE;
    private int unsettled;
    private int chosen = YieldBeforeBlock.NO_CORE;

    /** No caller yet. */
    public ServerThreadAffinity() {}

    /** Notes a request; {@code caller} is compared by identity, {@code core} as named, or NO_CORE if others ask too. */
    @SuppressWarnings("ReferenceEquality") // a caller is one object
    public void noteCaller(Object caller, int core) {
        if (lastCaller != null && caller != lastCaller) {
            unsettled = ALONE_FOR;
        } else if (core != lastCore) {
            unsettled = Math.max(unsettled, STILL_FOR);
        } else if (unsettled > 0) {
            unsettled--;
        }
        lastCaller = caller;
        int wanted = unsettled > 0 ? YieldBeforeBlock.NO_CORE : core;
        if (wanted != chosen) {
            binding.choose(wanted);
            chosen = wanted;
        }
        lastCore = core;
    }

    /** Sleeps as {@code sleep} does. */
    public void sleep(Runnable sleep) {
        binding.bind();
        try {
            sleep.run();
        } finally {
            binding.release();
        }
    }
}
