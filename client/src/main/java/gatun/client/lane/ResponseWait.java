// SPDX-License-Identifier: Apache-2.0
package gatun.client.lane;

import gatun.client.InferRequest;
import gatun.client.UnreachableException;
import gatun.client.calls.Deadline;
import gatun.memory.lane.LaneMemory;
import gatun.memory.lane.SlotLayout.SlotState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;

/**
 * Waits for responses in slots: spins, then sleeps on the slot's own word. A platform thread sleeps for a virtual one,
 * which would hold its carrier. Thread-safe, for one thread per slot at a time.
 */
final class ResponseWait {
    /** An interrupt does not end a sleep, so that each is at most this long. */
    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final long TIMESPEC_BYTES = 16;

    /** Lasts as long as the process; its threads end when they have had nothing to do for a minute. */
    private static final ExecutorService SLEEPERS = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("gatun-lane-wait-", 0).factory());

    private final LaneMemory memory;
    private final String address;
    private final MemorySegment[] timespecs;

    /** Whether a slot has no response yet; created once, so that calls allocate none. */
    final IntPredicate isWaiting = this::isWaiting;

    ResponseWait(LaneMemory memory, int slots, String address) {
        this.memory = memory;
        this.address = address;
        this.timespecs = Arena.ofAuto()
                .allocate(slots * TIMESPEC_BYTES, Long.BYTES)
                .elements(MemoryLayout.sequenceLayout(TIMESPEC_BYTES, ValueLayout.JAVA_BYTE))
                .toArray(MemorySegment[]::new);
    }

    /**
     * Returns when the slot has a response. {@code deadlineNanos} is of {@link System#nanoTime}; a zero {@code limit}
     * is none. Throws {@link gatun.client.ClientException} when the server ends, the deadline passes, or on interrupts.
     */
    void await(int slot, Duration limit, long deadlineNanos, long spinNanos, InferRequest request) {
        if (spinNanos > 0) {
            long end = System.nanoTime() + spinNanos;
            while (isWaiting(slot) && System.nanoTime() - end < 0) {
                Thread.onSpinWait();
            }
        }
        if (isWaiting(slot) && !sleepAnywhere(slot, !limit.isZero(), deadlineNanos, request)) {
            throw new Deadline(deadlineNanos, limit).exceeded(what(request), address);
        }
        if (memory.state(slot) == SlotState.LOST) {
            throw new UnreachableException(address + " ended the lane before " + what(request)
                    + " was answered: the server has stopped, or it" + " was closed");
        }
    }

    private boolean isWaiting(int slot) {
        return memory.state(slot) == SlotState.FILLED;
    }

    /** Sleeps until a slot has been answered; false where the time is over before. */
    private boolean sleepAnywhere(int slot, boolean limited, long endNanos, InferRequest request) {
        return Thread.currentThread().isVirtual()
                ? sleepElsewhere(slot, limited, endNanos, request)
                : sleep(slot, limited, endNanos, request);
    }

    private boolean sleep(int slot, boolean limited, long endNanos, InferRequest request) {
        MemorySegment timespec = timespecs[slot];
        while (isWaiting(slot)) {
            if (Thread.currentThread().isInterrupted()) {
                throw interrupted(request, new InterruptedException());
            }
            long left = limited ? Math.min(endNanos - System.nanoTime(), SLEEP_NANOS) : SLEEP_NANOS;
            if (left <= 0) {
                return false;
            }
            memory.awaitAnswer(slot, left, timespec);
        }
        return true;
    }

    private boolean sleepElsewhere(int slot, boolean limited, long endNanos, InferRequest request) {
        Future<Boolean> asleep = SLEEPERS.submit(() -> sleep(slot, limited, endNanos, request));
        try {
            return asleep.get();
        } catch (InterruptedException e) {
            asleep.cancel(true);
            Thread.currentThread().interrupt();
            throw interrupted(request, e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException("waiting for a response failed", e);
        }
    }

    private UnreachableException interrupted(InferRequest request, InterruptedException cause) {
        return new UnreachableException(
                "the thread was interrupted before " + address + " answered " + what(request), cause, true);
    }

    private static String what(InferRequest request) {
        return "an inference of model '" + request.model() + "'";
    }
}
