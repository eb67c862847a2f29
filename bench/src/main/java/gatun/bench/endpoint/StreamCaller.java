// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.load.Caller;
import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferStream;
import gatun.client.ServerException;
import gatun.client.StreamReceiver;
import gatun.client.UnreachableException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Requests on a stream of their own, one after another, each answered by its last part; the first part is compared with
 * the expected outputs. A broken stream is opened anew for the next request.
 */
final class StreamCaller implements Caller, StreamReceiver {
    private final GatunClient client;
    private final RequestSource requests;
    private final StepCursor cursor;
    private final boolean decoupled;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition complete = lock.newCondition(); // awaited by the worker, signalled by the stream's thread
    private boolean done; // guarded by lock
    private boolean first; // guarded by lock
    private @Nullable ClientException failure; // guarded by lock
    private String wrong = ""; // guarded by lock
    private long answerByteSize; // guarded by lock

    // The worker's own.
    private @Nullable InferStream stream;
    private @Nullable InferRequest request;
    private long tensorByteSize;

    StreamCaller(GatunClient client, RequestSource requests, StepCursor cursor, boolean decoupled) {
        this.client = client;
        this.requests = requests;
        this.cursor = cursor;
        this.decoupled = decoupled;
    }

    @Override
    public void prepare() {
        request = requests.prepare(cursor.next(), cursor);
        if (stream == null) {
            stream = client.stream(this);
        }
        lock.lock();
        try {
            done = false;
            first = true;
            failure = null;
            wrong = "";
            answerByteSize = 0;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void call() {
        InferStream open = stream;
        InferRequest prepared = request;
        if (open == null || prepared == null) {
            throw new IllegalStateException("prepare() comes before call()");
        }
        try {
            open.send(prepared);
            await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            drop();
            throw new UnreachableException(
                    "interrupted while waiting for an answer on a stream to " + client.address(), e);
        } catch (ServerException e) {
            throw e;
        } catch (RuntimeException e) {
            drop();
            throw e;
        }
    }

    @Override
    public String finish() {
        cursor.answered();
        lock.lock();
        try {
            tensorByteSize = cursor.step().byteSize() + answerByteSize + requests.sharedOutputByteSize();
            return wrong;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long tensorByteSize() {
        return tensorByteSize;
    }

    @Override
    public void close() {
        drop();
        requests.close();
    }

    @Override
    public void answer(InferResponse response, boolean last) {
        try (response) {
            lock.lock();
            try {
                answerByteSize += UnaryCaller.byteSize(response.outputs());
                if (first) {
                    first = false;
                    wrong = cursor.step().expected().differences(response.outputs());
                }
                if (last || !decoupled) {
                    end(null);
                }
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    public void failed(String id, ServerException reason) {
        end(reason);
    }

    @Override
    public void broken(ClientException reason) {
        end(new UnreachableException(String.valueOf(reason.getMessage()), reason));
    }

    @Override
    public void finished() {
        end(new UnreachableException(client.address() + " ended the stream before the answer was complete"));
    }

    private void await() throws InterruptedException {
        lock.lock();
        try {
            while (!done) {
                complete.await();
            }
            ClientException reason = failure;
            if (reason != null) {
                throw reason;
            }
        } finally {
            lock.unlock();
        }
    }

    private void end(@Nullable ClientException reason) {
        lock.lock();
        try {
            if (!done) {
                done = true;
                failure = reason;
                complete.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    private void drop() {
        InferStream open = stream;
        stream = null;
        if (open != null) {
            open.cancel();
        }
    }
}
