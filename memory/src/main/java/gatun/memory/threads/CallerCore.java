// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import gatun.bindings.CoreBinding;
import org.jspecify.annotations.Nullable;

/**
 * Lets a thread that serves others sleep on the core of its only caller, so that a caller who {@linkplain HandOver hands
 * its core over} need not wait until another core has woken up, which takes ten times as long as all else where cores
 * are a virtual machine's. With several callers the thread sleeps wherever the system puts it. For one thread, which is
 * bound only while it sleeps: what it starts when it is awake inherits nothing.
 */
public final class CallerCore {
    /** After a request of another caller so many of one caller have to come in a row. */
    private static final int ALONE_FOR = 16;
    /** After a caller's move to another core it has to stay there for so many. */
    private static final int STILL_FOR = 2;

    private final CoreBinding binding = new CoreBinding();
    private @Nullable Object lastCaller;
    private int lastCore = HandOver.NO_CORE;
    private int unsettled;
    private int chosen = HandOver.NO_CORE;

    /** No caller yet. */
    public CallerCore() {}

    /**
     * Notes a request.
     *
     * @param caller who asks, compared by identity
     * @param core which {@link HandOver#core} the caller named; {@link HandOver#NO_CORE} also where others ask too
     */
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
        int wanted = unsettled > 0 ? HandOver.NO_CORE : core;
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
