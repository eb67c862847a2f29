// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.bindings.ProcessCore;
import gatun.memory.threads.HandOver;
import gatun.spi.Tuning;
import gatun.spi.Tuning.Subject;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Hands the core of the thread that asks a worker over to it, where the answer comes sooner that way: a worker that sleeps
 * in the read of its pipe would otherwise be woken on an idle core, which has to wake up first. For one thread that
 * asks at a time.
 */
final class PipeHandOver {
    private final HandOver handOver;
    private final long pid;
    private final IntPredicate isWaiting;
    private @Nullable ProcessCore worker;
    private boolean asked;
    private long askedNanos;

    /** Who hands its core over; null for nobody. */
    private volatile @Nullable Thread giver;

    /**
     * For a process which serves when it is asked for the first time: until then it may choose its cores.
     *
     * @param answers what it says
     * @param tuning learns whether it helps
     */
    PipeHandOver(long pid, FrameInput answers, Tuning tuning) {
        this.handOver = new HandOver(tuning.tuner(Subject.CORES, HandOver.WAYS, HandOver.TRIALS));
        this.pid = pid;
        isWaiting = number -> !answers.isReady();
    }

    /** Binds the worker to the calling thread's core, if that is to be handed over; just before it is asked. */
    boolean bind() {
        asked = true;
        askedNanos = System.nanoTime();
        if (worker == null) {
            worker = new ProcessCore(pid);
        }
        boolean bound = worker.bind(handOver.core());
        giver = bound ? Thread.currentThread() : null;
        return bound;
    }

    /**
     * Hands the core over until there is an answer, or that is of no use. For the thread whose turn it is to read, which
     * may be another than the one that asked: then it does nothing.
     */
    void await() {
        if (Thread.currentThread().equals(giver)) {
            giver = null;
            HandOver.await(isWaiting, 0);
        }
    }

    /** Notes that the answer is there. */
    void noteAnswer() {
        if (asked) {
            asked = false;
            handOver.noteWait(System.nanoTime() - askedNanos);
        }
    }
}
