// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.lane.ServerSleep;
import gatun.memory.threads.ServerThreadAffinity;
import gatun.memory.threads.SupervisedThread;
import gatun.memory.threads.YieldBeforeBlock;
import gatun.runtime.placement.LoanWatchdog;
import gatun.runtime.placement.RunPlacement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for requests in some lanes; sleeps while there are none. Does runs that have proved to be short; virtual
 * threads do others. Where a run is not short after all, another thread takes the lanes over. Safe for any thread.
 */
final class LaneThread implements LoanWatchdog.Lender {
    private static final Logger LOG = LoggerFactory.getLogger(LaneThread.class);

    /** A lane's share of one round, so that a busy one does not keep the others waiting. */
    private static final int ROUND_ENTRIES = 16;

    /** After so many requests of one lane in a row, those of others are not expected. */
    private static final int ALONE_FOR = 16;

    /** A run that is seen at two looks has held the thread up for as long as between them. */
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** Where only one lane's requests could wait: each look takes a core from the lane or its client for a moment. */
    private static final long ALONE_PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(8);

    private final String name;
    private final Executor others;
    private final RunPlacement placement;
    private final LoanWatchdog.Watch watch = LoanWatchdog.OF_THIS_JVM.over(this);
    private final ServerSleep sleep = new ServerSleep();
    private final Runnable sleepAtLanes = sleep::sleep;
    private final List<Lane> added = new ArrayList<>(); // guarded by this
    private volatile int laneCount;
    private volatile boolean changed;
    private volatile boolean closed;
    private volatile Worker worker;

    // Handed from one worker to the next.
    private Lane[] lanes = {};
    private final Spinning spinning;

    /** Starts at once, without lanes; looks {@code spinNanos} before it sleeps. {@code others} run long requests. */
    LaneThread(int number, long spinNanos, Executor others, RunPlacement placement) {
        this.name = "lane-" + number;
        this.spinning = new Spinning(Runtime.getRuntime().availableProcessors() > 1 ? spinNanos : 0);
        this.others = others;
        this.placement = placement;
        this.worker = new Worker();
        worker.start();
    }

    int laneCount() {
        return laneCount;
    }

    /** Serves a lane from now on, until that ends; false when it has as many as it can. */
    synchronized boolean add(Lane lane) {
        if (added.size() == ServerSleep.MAX_LANES) {
            return false;
        }
        added.add(lane);
        laneCount = added.size();
        lookAgain();
        return true;
    }

    void lookAgain() {
        changed = true;
        sleep.interrupt();
    }

    /** Ends the thread, and lets go of all lanes. */
    void close() {
        closed = true;
        lookAgain();
    }

    @Override
    public boolean isLending() {
        return worker.isRunning();
    }

    /** Less often where only one lane's requests could wait. */
    @Override
    public long periodNanos() {
        return laneCount == 1 ? ALONE_PERIOD_NANOS : PERIOD_NANOS;
    }

    /** Has another worker look at the lanes where the present one is held up. */
    @Override
    public void look() {
        worker.checkRun();
    }

    private synchronized void takeChanges() {
        changed = false;
        added.removeIf(lane -> {
            if (lane.isEnded()) {
                lane.release();
                return true;
            }
            return false;
        });
        laneCount = added.size();
        lanes = added.toArray(Lane[]::new);
    }

    private synchronized void letGo() {
        added.forEach(Lane::release);
        added.clear();
        laneCount = 0;
    }

    private void sleep(ServerThreadAffinity place) {
        sleep.begin();
        for (Lane lane : lanes) {
            sleep.add(lane.memory());
        }
        if (!changed && !hasEntry()) {
            place.sleep(sleepAtLanes);
        }
    }

    private boolean hasEntry() {
        for (Lane lane : lanes) {
            if (lane.hasEntry()) {
                return true;
            }
        }
        return false;
    }

    /** Looks for an entry for a while, where one is likely to come; false when none came. */
    private boolean spin() {
        long nanos = spinning.nanos();
        if (nanos == 0) {
            return false;
        }
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) {
            if (changed || hasEntry()) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }

    /** One platform thread that looks; another takes its place where it is held up. */
    private final class Worker implements LaneCall.Place {
        private static final long REPLACED = -1;

        /** Even while it looks, odd while it runs a request, {@link #REPLACED} when another looks. */
        private final AtomicLong turn = new AtomicLong();

        private final ServerThreadAffinity place = new ServerThreadAffinity();
        private @Nullable Lane lastLane;
        private int inARow;
        private volatile @Nullable LaneCall running;
        private long seenTurn;

        void start() {
            SupervisedThread.unstarted(name, this::serve).start();
        }

        private void serve() {
            while (worker == this) {
                if (changed) {
                    takeChanges();
                }
                if (closed) {
                    letGo();
                    return;
                }
                boolean worked = false;
                for (Lane lane : lanes) {
                    if (lane.hasEntry()) {
                        if (!worked) {
                            spinning.noteRequest();
                            worked = true;
                        }
                        if (!serve(lane)) {
                            return;
                        }
                    }
                }
                if (worked) {
                    spinning.noteIdle();
                } else if (!spin()) {
                    sleep(place);
                }
            }
        }

        /** Takes some entries of a lane; false when another thread looks from now on. */
        private boolean serve(Lane lane) {
            for (int i = 0; i < ROUND_ENTRIES && !lane.isEnded(); i++) {
                LaneCall call;
                try {
                    if (!lane.hasEntry()) {
                        return true;
                    }
                    call = lane.take();
                } catch (RuntimeException e) {
                    // A client can bring this about as often as it likes.
                    LOG.debug("A lane is closed: {}", e.getMessage());
                    lane.close();
                    return true;
                }
                if (call != null && !run(lane, call)) {
                    return false;
                }
            }
            return true;
        }

        private boolean run(Lane lane, LaneCall call) {
            PreparedRequest request = call.taken();
            inARow = lane == lastLane ? Math.min(inARow + 1, ALONE_FOR) : 0;
            lastLane = lane;
            if (request != null && !isShort(request)) {
                place.noteCaller(lane, YieldBeforeBlock.NO_CORE);
                spinning.noteCaller(false);
                request.runLength().beginElsewhere();
                others.execute(call);
                return true;
            }
            place.noteCaller(lane, lane.hasEntry() ? YieldBeforeBlock.NO_CORE : call.callerCore());
            running = call;
            turn.set(turn.get() + 1);
            watch.noteLoan();
            boolean slept = call.run(this);
            if (turn.get() == REPLACED) {
                return false;
            }
            spinning.noteCaller(!slept && call.callerCore() == YieldBeforeBlock.NO_CORE);
            return true;
        }

        @Override
        public boolean leave() {
            long now = turn.get();
            return now != REPLACED && turn.compareAndSet(now, now + 1);
        }

        private boolean isShort(PreparedRequest request) {
            if (request.isDecoupled()) {
                return false;
            }
            RunLength length = request.runLength();
            return length.isShort(placement, false)
                    || (inARow >= ALONE_FOR && !hasEntry() && length.isShort(placement, true));
        }

        boolean isRunning() {
            long now = turn.get();
            return (now & 1) != 0 && now != REPLACED;
        }

        /** Hands the lanes to another thread where this one's run lasts or is overdue. Not thread-safe. */
        void checkRun() {
            long now = turn.get();
            boolean same = now == seenTurn;
            seenTurn = now;
            LaneCall call = running;
            boolean held = (now & 1) != 0 && now != REPLACED && call != null && (same || call.isLate());
            if (held && turn.compareAndSet(now, REPLACED)) {
                // Nobody takes requests out of the lanes now, so none can begin in the slot that is limited here.
                Objects.requireNonNull(running).limitHeldUp();
                Worker next = new Worker();
                worker = next;
                next.start();
            }
        }
    }

    /**
     * Whether a thread looks for the next request before it sleeps: where its last caller does so for the answer, and
     * requests come faster. A sleeping caller is to be woken anyway, sooner on a free core. Used by one thread.
     */
    static final class Spinning {
        /** Gaps between requests are averaged with this weight, as a power of two, and count no more than this. */
        private static final int GAP_SHIFT = 3;

        private static final long LONGEST_GAP_NANOS = 10_000_000;

        private final long limitNanos;
        private long gapNanos = LONGEST_GAP_NANOS;
        private long workEndedNanos;
        private boolean callerSpins;

        /** @param limitNanos how long to look at most; 0 for not at all */
        Spinning(long limitNanos) {
            this.limitNanos = limitNanos;
        }

        void noteRequest() {
            if (callerSpins) {
                long gap = Math.min(System.nanoTime() - workEndedNanos, LONGEST_GAP_NANOS);
                gapNanos += (gap - gapNanos) >> GAP_SHIFT;
            }
        }

        void noteCaller(boolean spins) {
            callerSpins = spins && limitNanos > 0;
        }

        void noteIdle() {
            if (callerSpins) {
                workEndedNanos = System.nanoTime();
            }
        }

        /** How long to look for the next request now, in nanoseconds; 0 for not at all. */
        long nanos() {
            return callerSpins && gapNanos <= limitNanos ? limitNanos : 0;
        }
    }
}
