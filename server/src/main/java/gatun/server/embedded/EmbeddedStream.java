// SPDX-License-Identifier: Apache-2.0
package gatun.server.embedded;

import gatun.client.InferRequest;
import gatun.client.InferStream;
import gatun.client.StreamReceiver;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.server.InferenceService;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiFunction;

/** Requests answered in order on a thread of their own, with inputs copied at {@code send}. Thread-safe. */
final class EmbeddedStream implements InferStream {
    /** The most requests that may wait; a thread that sends more waits too. */
    private static final int MAX_WAITING = 32;

    /** The requests that wait; empty stands for the end of the stream. */
    private final BlockingQueue<Optional<InferenceRequest>> waiting = new ArrayBlockingQueue<>(MAX_WAITING);

    private final CountDownLatch done = new CountDownLatch(1);
    private final InferenceService server;
    private final BiFunction<InferRequest, Boolean, InferenceRequest> begin;
    private final StreamReceiver receiver;
    private volatile boolean closed;
    private volatile boolean cancelled;
    private volatile Optional<InferenceRequest> running = Optional.empty();

    /** Begins a stream. {@code begin} makes the runtime's request, with inputs copied unless they are lent. */
    EmbeddedStream(
            InferenceService server,
            BiFunction<InferRequest, Boolean, InferenceRequest> begin,
            StreamReceiver receiver) {
        this.server = server;
        this.begin = begin;
        this.receiver = receiver;
        Thread.ofVirtual().name("embedded-stream").start(this::run);
    }

    @Override
    public void send(InferRequest asked) {
        requireOpen();
        put(Optional.of(begin.apply(asked, false)));
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            put(Optional.empty());
        }
        await();
    }

    @Override
    public void cancel() {
        cancelled = true;
        running.ifPresent(request -> request.cancellation().cancel());
        close();
    }

    private void run() {
        try {
            for (Optional<InferenceRequest> next = take(); next.isPresent(); next = take()) {
                if (cancelled) {
                    next.get().close();
                } else {
                    answer(next.get());
                }
            }
            if (!cancelled) {
                receiver.finished();
            }
        } finally {
            closed = true;
            done.countDown();
        }
    }

    private void answer(InferenceRequest request) {
        String id = request.id();
        running = Optional.of(request);
        if (cancelled) {
            request.cancellation().cancel();
        }
        try (EmbeddedEntry entry = EmbeddedEntry.begin(server.accessLog(), "stream")) {
            answer(request, entry);
        } catch (GatunException e) {
            if (!cancelled) {
                receiver.failed(id, EmbeddedErrors.of(e));
            }
        } finally {
            running = Optional.empty();
        }
    }

    private void answer(InferenceRequest request, EmbeddedEntry entry) {
        try {
            server.infer(request, (response, last) -> {
                if (cancelled) {
                    response.close();
                } else {
                    receiver.answer(EmbeddedResponses.of(response), last);
                }
            });
            entry.answered();
        } catch (GatunException e) {
            entry.failed(e.code());
            throw e;
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the stream has ended: open another to send more");
        }
    }

    private void put(Optional<InferenceRequest> next) {
        boolean interrupted = false;
        while (true) {
            try {
                waiting.put(next);
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        restore(interrupted);
    }

    private Optional<InferenceRequest> take() {
        boolean interrupted = false;
        while (true) {
            try {
                Optional<InferenceRequest> next = waiting.take();
                restore(interrupted);
                return next;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    private void await() {
        boolean interrupted = false;
        while (true) {
            try {
                done.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        restore(interrupted);
    }

    private static void restore(boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
