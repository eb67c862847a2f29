// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.workers.WorkerMemory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A call of {@code execute} for several requests of a decoupled model. Each has its responses by a run of its own, so
 * that nobody waits for a client of another that reads slowly. {@link #tell} is for the worker's thread, the rest for
 * the instance's.
 */
final class ApartPythonRun implements WorkerRun {
    private final List<? extends RunRequest> requests;
    private final List<PythonRun> parts = new ArrayList<>();
    private final CountDownLatch returned = new CountDownLatch(1);
    private volatile long firstNumber;

    ApartPythonRun(List<? extends RunRequest> requests, WorkerMemory memory) {
        this.requests = List.copyOf(requests);
        for (RunRequest request : requests) {
            parts.add(new PythonRun(List.of(request), memory, true));
        }
    }

    @Override
    public List<? extends RunRequest> requests() {
        return requests;
    }

    @Override
    public void number(long first) {
        firstNumber = first;
    }

    @Override
    public long firstNumber() {
        return firstNumber;
    }

    @Override
    public boolean readsAnswer() {
        return false;
    }

    /** The responses to request {@code index}. */
    PythonRun part(int index) {
        return parts.get(index);
    }

    @Override
    public void tell(RunEvent event) {
        switch (event) {
            case RunEvent.Failed failed -> {
                parts.forEach(part -> part.tell(failed));
                returned.countDown();
            }
            case RunEvent.Returned all -> {
                for (int i = 0; i < parts.size(); i++) {
                    parts.get(i)
                            .tell(new RunEvent.Returned(List.of(all.outcomes().get(i))));
                }
                returned.countDown();
            }
            case RunEvent.Sent sent ->
                parts.get(sent.request()).tell(new RunEvent.Sent(0, sent.last(), sent.response()));
        }
    }

    /**
     * Waits until {@code execute} has returned, or the worker has ended.
     *
     * @param limit how long that may take; zero for ever
     * @return false when it took longer
     */
    boolean awaitReturn(Duration limit) {
        try {
            if (limit.isZero()) {
                returned.await();
                return true;
            }
            return returned.await(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw PythonRun.interrupted(e);
        }
    }
}
