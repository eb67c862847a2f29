// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.runtime.scheduling.BatchPolicy;
import gatun.runtime.scheduling.BatchRunner;
import gatun.runtime.scheduling.PendingRequest;
import gatun.runtime.scheduling.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The cost of scheduling for a request from its submission to its completion, with an engine that does nothing: so many
 * clients, each a virtual thread as in the server, submit a request, wait for its end, and submit the next.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(2)
public class SchedulerBenchmark {
    private static final int REQUESTS = 200_000;
    private static final Duration GRACE = Duration.ofSeconds(10);

    private static final class Request extends PendingRequest {}

    /** An engine that does nothing. */
    private record Idle(boolean isBoundToThread) implements BatchRunner<Request> {
        @Override
        public String threadName() {
            return "engine";
        }

        @Override
        public void open() {}

        @Override
        public long run(List<Request> batch) {
            return 1;
        }

        @Override
        public void close() {}
    }

    /** One instance on its own thread: all requests but the ones that run wait in the queue. */
    @State(Scope.Benchmark)
    public static class Queue {
        /** How many requests wait. */
        @Param({"1", "64", "10000"})
        public int clients;

        /** The most requests in a batch; 0 for none but their own. */
        @Param({"0", "8"})
        public int maxBatchSize;

        private Scheduler<Request> scheduler;

        /** Opens the scheduler. */
        @Setup(Level.Trial)
        public void open() {
            BatchPolicy policy =
                    maxBatchSize == 0 ? BatchPolicy.single(clients) : BatchPolicy.upTo(maxBatchSize, clients);
            scheduler = Scheduler.open(policy, List.of(new Idle(true)));
        }

        /** Ends the instance. */
        @TearDown(Level.Trial)
        public void close() {
            scheduler.close(GRACE);
        }
    }

    /** An instance for each client, which runs its requests on its own thread. */
    @State(Scope.Benchmark)
    public static class Inline {
        /** How many clients there are. */
        @Param({"1", "2", "4", "8"})
        public int threads;

        private Scheduler<Request> scheduler;

        /** Opens the scheduler. */
        @Setup(Level.Trial)
        public void open() {
            scheduler = Scheduler.open(BatchPolicy.single(threads), Collections.nCopies(threads, new Idle(false)));
        }

        /** Ends the instances. */
        @TearDown(Level.Trial)
        public void close() {
            scheduler.close(GRACE);
        }
    }

    /** One request, in the company of the others. */
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    public void request(Queue queue) throws InterruptedException {
        submitAll(queue.scheduler, queue.clients);
    }

    /** One request that runs on its client's thread, beside the others. */
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    public void inline(Inline inline) throws InterruptedException {
        submitAll(inline.scheduler, inline.threads);
    }

    private static void submitAll(Scheduler<Request> scheduler, int clients) throws InterruptedException {
        List<Thread> threads = new ArrayList<>(clients);
        for (int i = 0; i < clients; i++) {
            threads.add(Thread.startVirtualThread(() -> submitAndWait(scheduler, REQUESTS / clients)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void submitAndWait(Scheduler<Request> scheduler, int requests) {
        for (int i = requests; i > 0; i--) {
            Request request = new Request();
            scheduler.submit(request);
            request.await(scheduler);
        }
    }
}
