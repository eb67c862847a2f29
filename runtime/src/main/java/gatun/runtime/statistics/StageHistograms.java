// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.StageLatencies;

/**
 * The durations of the requests of one origin that one instance answered. Written by the instance's thread only, read
 * by any thread.
 */
final class StageHistograms {
    private final Tally successes = new Tally();
    private final Histogram request = new Histogram();
    private final Histogram queue = new Histogram();
    private final Histogram input = new Histogram();
    private final Histogram infer = new Histogram();
    private final Histogram output = new Histogram();
    private final Histogram firstResponse = new Histogram();

    /** Counts the request that stands at {@code index} among those that an execution answered. */
    void answered(ExecutionTimes times, int index) {
        long arrivedNanos = times.arrivedNanos(index);
        queue.add(times.queueNanos(index));
        input.add(times.inferStartedNanos() - times.startedNanos());
        infer.add(times.inferEndedNanos() - times.inferStartedNanos());
        output.add(times.endedNanos() - times.inferEndedNanos());
        request.add(times.endedNanos() - arrivedNanos);
        long firstNanos = times.firstResponseNanos(index);
        if (firstNanos != 0) {
            firstResponse.add(firstNanos - arrivedNanos);
        }
        // Last: who sees it sees the times of this request.
        successes.add(1);
    }

    long successes() {
        return successes.get();
    }

    long requestNanos() {
        return request.sumNanos();
    }

    long queueNanos() {
        return queue.sumNanos();
    }

    long inputNanos() {
        return input.sumNanos();
    }

    long inferNanos() {
        return infer.sumNanos();
    }

    long outputNanos() {
        return output.sumNanos();
    }

    /** The durations as they are now. */
    StageLatencies snapshot() {
        return new StageLatencies(
                request.snapshot(),
                queue.snapshot(),
                input.snapshot(),
                infer.snapshot(),
                output.snapshot(),
                firstResponse.snapshot());
    }
}
