// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.memory.tensor.ErrorCode;
import gatun.runtime.ComputeTimes;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.RequestFailure;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** The slowest requests and the last failures of one version. Safe for any thread. */
final class RequestRecords {
    static final int FAILURES = 16;

    /** The most characters of a failure's text. */
    private static final int TEXT_LIMIT = 500;

    private static final AtomicLong NUMBERS = new AtomicLong();

    private final SlowestRequests slowest = new SlowestRequests();
    private final ReentrantLock lock = new ReentrantLock();

    /** Each other than the rest, the one that came last at the end. Guarded by lock. */
    private final Deque<FailedRequest> failures = new ArrayDeque<>();

    void ended(AccessEntry entry, ComputeTimes times) {
        long nowMillis = System.currentTimeMillis();
        Optional<RequestFailure> failure = entry.failure();
        if (failure.isPresent()) {
            failed(failure.get(), nowMillis);
        }
        if (slowest.wants(entry.durationNanos(), nowMillis)) {
            slowest.add(entry.durationNanos(), nowMillis, () -> slow(entry, times));
        }
    }

    private static SlowRequest slow(AccessEntry entry, ComputeTimes times) {
        return new SlowRequest(
                NUMBERS.incrementAndGet(),
                cut(entry.requestId(), SlowRequest.ID_LIMIT),
                entry.time().toEpochMilli(),
                entry.protocol(),
                entry.transport(),
                times.largestBatch(),
                entry.inByteSize(),
                entry.outByteSize(),
                entry.durationNanos(),
                new SlowRequest.Stages(
                        entry.arrivedNanos(),
                        times.queueNanos(),
                        times.inputNanos(),
                        times.inferNanos(),
                        times.outputNanos(),
                        Math.max(0, entry.durationNanos() - entry.inferredNanos())),
                entry.traceId());
    }

    void failed(RequestFailure failure, long nowMillis) {
        FailedRequest failed = new FailedRequest(
                nowMillis, 1, reason(failure.code()), failure.code().name(), cut(failure.text(), TEXT_LIMIT));
        lock.lock();
        try {
            failures.addLast(counted(failed));
        } finally {
            lock.unlock();
        }
    }

    /** Takes the same failure out, if it is there, and counts it on; otherwise the oldest, if there is no room. */
    private FailedRequest counted(FailedRequest failed) {
        for (FailedRequest before : failures) {
            if (before.isLike(failed)) {
                failures.remove(before);
                return before.again(failed);
            }
        }
        if (failures.size() == FAILURES) {
            failures.removeFirst();
        }
        return failed;
    }

    private static String reason(ErrorCode code) {
        return switch (code) {
            case UNAVAILABLE -> "REJECTED";
            case CANCELLED -> "CANCELED";
            case INTERNAL -> "BACKEND";
            case UNKNOWN,
                    INVALID_ARGUMENT,
                    NOT_FOUND,
                    ALREADY_EXISTS,
                    UNSUPPORTED,
                    RESOURCE_EXHAUSTED,
                    PERMISSION_DENIED -> "OTHER";
        };
    }

    /** The slowest requests of the last hour, the slowest first. */
    List<SlowRequest> slowest(long nowMillis) {
        return slowest.slowest(nowMillis);
    }

    /** The last failures, those that came last first. */
    List<FailedRequest> failures() {
        lock.lock();
        try {
            return List.copyOf(failures).reversed();
        } finally {
            lock.unlock();
        }
    }

    private static String cut(String text, int limit) {
        return text.length() <= limit ? text : text.substring(0, limit) + "...";
    }
}
