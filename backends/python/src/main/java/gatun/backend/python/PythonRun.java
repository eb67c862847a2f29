// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.backend.python.RunRequest.WorkerRun;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.workers.WorkerMemory;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A worker's run and its requests' fates. {@link #tell} is for its reader, the rest for the run's thread. */
final class PythonRun implements WorkerRun {
    /** The most responses that wait for a client: they lie on the heap, and their tensors in the instance's memory. */
    static final int MOST_WAITING = 4096;

    private final BlockingQueue<RunEvent> events = new LinkedBlockingQueue<>();
    private final List<? extends RunRequest> requests;
    private final WorkerMemory memory;
    private final boolean decoupled;
    private final @Nullable Consumer<BooleanSupplier> reading;
    private final boolean[] ended;

    /** The number that the worker knows the first request by; the others' follow. */
    private volatile long firstNumber;

    /** Whether a failure of all requests is the run's, and not each one's. */
    private boolean failsAsOne;

    private boolean returned;
    private volatile boolean closed;
    private volatile boolean flooded;
    private final AtomicInteger waiting = new AtomicInteger();

    /** Why the responses that still come are dropped. */
    private @Nullable GatunException refusal;

    /** @param decoupled whether a request may have any number of responses */
    PythonRun(List<? extends RunRequest> requests, WorkerMemory memory, boolean decoupled) {
        this(requests, memory, decoupled, null);
    }

    /** With {@code reading}, the run's thread reads while it waits: until the argument is true or the worker ends. */
    PythonRun(
            List<? extends RunRequest> requests,
            WorkerMemory memory,
            boolean decoupled,
            @Nullable Consumer<BooleanSupplier> reading) {
        this.requests = requests;
        this.memory = memory;
        this.decoupled = decoupled;
        this.reading = reading;
        ended = new boolean[requests.size()];
    }

    /** Has {@link #finish} throw a failure of {@code execute}, for a rerun. Call before it begins. */
    PythonRun failingAsOne() {
        failsAsOne = true;
        return this;
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
        return reading != null;
    }

    /** A response that comes while too many wait is dropped, and the run fails. */
    @Override
    public void tell(RunEvent event) {
        events.add(isTooMany(event) ? RunEvent.Sent.nothing() : event);
        if (closed) {
            drop();
        }
    }

    private boolean isTooMany(RunEvent event) {
        if (!(event instanceof RunEvent.Sent sent) || sent.response().isEmpty()) {
            return false;
        }
        if (waiting.incrementAndGet() <= MOST_WAITING) {
            return false;
        }
        waiting.decrementAndGet();
        sent.response().get().drop(memory);
        flooded = true;
        return true;
    }

    /** Notes that nobody takes what the worker still says. */
    void close() {
        closed = true;
        drop();
    }

    private void drop() {
        for (RunEvent event = events.poll(); event != null; event = events.poll()) {
            switch (event) {
                case RunEvent.Sent sent -> sent.response().ifPresent(response -> response.drop(memory));
                case RunEvent.Returned all -> {
                    for (RunEvent.Outcome outcome : all.outcomes()) {
                        if (outcome instanceof RunEvent.Outcome.Answered answered) {
                            answered.response().drop(memory);
                        }
                    }
                }
                case RunEvent.Failed failed -> {}
            }
        }
    }

    /** Takes what the worker says until {@code execute} has returned; false after {@code limit}, zero for ever. */
    boolean awaitReturn(Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        while (!returned) {
            RunEvent event = limit.isZero() ? next() : next(end - System.nanoTime());
            if (event == null) {
                return false;
            }
            handle(event);
        }
        return true;
    }

    boolean isOver() {
        for (boolean one : ended) {
            if (!one) {
                return false;
            }
        }
        return true;
    }

    /** Takes responses until every request has all of them. Throws {@link GatunException}, the failure of the run. */
    void finish() {
        while (!isOver() && refusal == null) {
            handle(next());
        }
        if (refusal != null) {
            throw refusal;
        }
    }

    private RunEvent next() {
        try {
            if (reading != null) {
                reading.accept(() -> !events.isEmpty());
            }
            return events.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted(e);
        }
    }

    private @Nullable RunEvent next(long nanos) {
        try {
            return events.poll(Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted(e);
        }
    }

    static GatunException interrupted(InterruptedException cause) {
        return new GatunException(ErrorCode.CANCELLED, "the instance was interrupted while its model ran", cause);
    }

    private void handle(RunEvent event) {
        switch (event) {
            case RunEvent.Failed failed -> {
                returned = true;
                if (failsAsOne && refusal == null) {
                    refusal = failed.reason();
                    return;
                }
                for (int i = 0; i < requests.size(); i++) {
                    // One that a response sender has answered stays answered.
                    if (!ended[i]) {
                        ended[i] = true;
                        fail(i, requests.get(i), failed.reason());
                    }
                }
            }
            case RunEvent.Returned all -> {
                returned = true;
                for (int i = 0; i < requests.size(); i++) {
                    take(i, all.outcomes().get(i));
                }
            }
            case RunEvent.Sent sent -> {
                if (sent.response().isPresent()) {
                    waiting.decrementAndGet();
                }
                if (flooded && refusal == null) {
                    refusal = new GatunException(
                            ErrorCode.UNAVAILABLE,
                            "the model sends responses faster than its client takes them: " + MOST_WAITING
                                    + " wait, which is the limit");
                }
                boolean only = sent.response().isPresent() && !decoupled;
                sent.response().ifPresent(response -> take(sent.request(), response, !sent.last() && decoupled));
                ended[sent.request()] |= sent.last() || only;
            }
        }
    }

    private void take(int index, RunEvent.Outcome outcome) {
        switch (outcome) {
            case RunEvent.Outcome.Answered answered -> {
                take(index, answered.response(), false);
                ended[index] = true;
            }
            case RunEvent.Outcome.Again again -> {
                requests.get(index).runAgain();
                ended[index] = true;
            }
            case RunEvent.Outcome.Later later -> {}
        }
    }

    private void take(int index, WorkerResponse response, boolean more) {
        RunRequest request = requests.get(index);
        Optional<GatunException> error = response.error();
        if (error.isPresent() || refusal != null || ended[index]) {
            response.drop(memory);
            if (!ended[index] && refusal == null) {
                error.ifPresent(reason -> fail(index, request, reason, more));
            }
            return;
        }
        try {
            request.take(response, more);
        } catch (GatunException e) {
            fail(index, request, e);
        }
    }

    /** @param more whether a response may follow */
    private void fail(int index, RunRequest request, GatunException reason, boolean more) {
        if (!more) {
            fail(index, request, reason);
            return;
        }
        try {
            request.takeFailure(reason);
        } catch (GatunException e) {
            fail(index, request, e);
        }
    }

    private void fail(int index, RunRequest request, GatunException reason) {
        if (requests.size() > 1) {
            request.fail(reason);
            ended[index] = true;
        } else if (refusal == null) {
            refusal = reason;
        }
    }
}
