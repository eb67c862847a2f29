// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import gatun.wire.inference.ModelInferResponse;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A client that sends small requests over HTTP and gRPC all the time, checks the responses, and does no harm.
 * Thread-safe.
 */
public final class Bystander implements AutoCloseable {
    private final ServerProcess server;
    private final HttpApi http;
    private final GrpcClient grpc;
    private final List<Thread> threads = new ArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition served = lock.newCondition();

    // Guarded by lock.
    private final List<String> failures = new ArrayList<>();
    private final int[] responses = new int[2];

    private final AtomicInteger stopped = new AtomicInteger();

    public Bystander(ServerProcess server) {
        this.server = server;
        this.http = new HttpApi(server);
        this.grpc = GrpcClient.tcp(server.grpcPort());
        threads.add(Thread.ofPlatform().name("bystander-http").start(() -> ask(0, this::overHttp)));
        threads.add(Thread.ofPlatform().name("bystander-grpc").start(() -> ask(1, this::overGrpc)));
    }

    private void ask(int protocol, Runnable request) {
        while (stopped.get() == 0) {
            String failure = "";
            try {
                request.run();
            } catch (RuntimeException | AssertionError e) {
                failure = String.valueOf(e);
            }
            lock.lock();
            try {
                if (stopped.get() == 0 && !failure.isEmpty()) {
                    failures.add(failure);
                }
                responses[protocol]++;
                served.signalAll();
            } finally {
                lock.unlock();
            }
            if (!server.handle().isAlive()) {
                return;
            }
        }
    }

    private void overHttp() {
        HttpResponse<String> response = http.post("/v2/models/simple/infer", SimpleModel.json());
        if (response.statusCode() != 200 || !response.body().contains(SimpleModel.jsonData(SimpleModel.SUM))) {
            throw new AssertionError("over HTTP " + response.statusCode() + ": " + response.body());
        }
    }

    private void overGrpc() {
        ModelInferResponse response = grpc.service().modelInfer(SimpleModel.grpc());
        int[] sum = SimpleModel.values(response.getRawOutputContents(0).asReadOnlyByteBuffer());
        if (!Arrays.equals(sum, SimpleModel.SUM)) {
            throw new AssertionError("over gRPC: " + Arrays.toString(sum));
        }
    }

    /** Waits until {@code count} more requests have been answered over each protocol, or the server is gone. */
    public void awaitAnswers(int count) {
        lock.lock();
        try {
            int[] before = responses.clone();
            while (server.handle().isAlive()
                    && (responses[0] < before[0] + count || responses[1] < before[1] + count)) {
                served.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Takes the failures since the last call. */
    public List<String> takeFailures() {
        lock.lock();
        try {
            List<String> taken = List.copyOf(failures);
            failures.clear();
            return taken;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        stopped.set(1);
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        grpc.close();
        http.close();
    }
}
