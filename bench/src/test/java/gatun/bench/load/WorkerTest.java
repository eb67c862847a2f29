// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.bench.load.Worker.TextTally;
import java.util.Map;
import java.util.function.IntConsumer;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WorkerTest {
    private static final long MILLI = 1_000_000;
    private static final int REQUESTS = 1000;

    private final ManualClock clock = new ManualClock();
    private final TextTally failures = new TextTally();
    private final TextTally wrongResponses = new TextTally();

    @Test
    void shouldCountTheDelayOfAllRequestsThatAStallHoldsUp() {
        // 100 requests per second, each answered within 1 ms; but one takes a whole second, in which 100 others are
        // due.
        Pace pace = new Load.RequestRate(100, Distribution.CONSTANT).pace(0, 0);
        Histogram latencies = run(pace, call -> clock.advance(call == 500 ? 1000 * MILLI : MILLI));

        assertThat(latencies.getTotalCount()).isEqualTo(REQUESTS);
        assertThat(latencies.getMaxValue()).isBetween(1000 * MILLI, 1001 * MILLI);
        // Had latencies begun when requests were sent, 99.9 % of them would be of 1 ms.
        long late = latencies.getCountBetweenValues(2 * MILLI, 2000 * MILLI);
        assertThat(late).isBetween(100L, 125L);
        assertThat(latencies.getValueAtPercentile(95)).isGreaterThan(400 * MILLI);
        assertThat(latencies.getValueAtPercentile(50)).isLessThan(2 * MILLI);
    }

    @Test
    void shouldTellByHowMuchRequestsWereSentLate() {
        Worker worker = worker(
                new Load.RequestRate(100, Distribution.CONSTANT).pace(0, 0),
                3,
                call -> clock.advance(call == 0 ? 50 * MILLI : MILLI));
        worker.run();
        assertThat(worker.drainLag()).isEqualTo(40 * MILLI);
        assertThat(worker.drainLag()).isZero();
    }

    @Test
    void shouldMeasureAClosedLoopFromWhenRequestsAreSent() {
        Histogram latencies = run(Pace.CLOSED_LOOP, call -> clock.advance(call == 500 ? 1000 * MILLI : MILLI));
        assertThat(latencies.getTotalCount()).isEqualTo(REQUESTS);
        assertThat(latencies.getCountBetweenValues(2 * MILLI, 2000 * MILLI)).isEqualTo(1);
    }

    @Test
    void shouldCountFailuresByTheirTextAndNotTimeThem() {
        Histogram latencies = run(Pace.CLOSED_LOOP, call -> {
            clock.advance(MILLI);
            if (call % 10 == 0) {
                throw new IllegalStateException(call % 20 == 0 ? "overloaded" : "gone");
            }
        });
        assertThat(latencies.getTotalCount()).isEqualTo(900);
        assertThat(failures.drain()).containsEntry("overloaded", 50L).containsEntry("gone", 50L);
        assertThat(failures.drain()).isEmpty();
    }

    @Test
    void shouldKeepTheNumberOfTextsSmall() {
        run(Pace.CLOSED_LOOP, call -> {
            throw new IllegalStateException("request " + call + " failed");
        });
        // The last one failed when the worker had been stopped, and is nobody's fault.
        assertThat(failures.drain()).hasSize(21).containsEntry("other texts", 979L);
    }

    @Test
    void shouldCountWrongAnswersAndTimeThem() {
        ScriptedCaller caller = new ScriptedCaller(10, call -> clock.advance(MILLI));
        caller.wrong = "output 'OUT' has 3 at element 0: expected 4";
        Worker worker = new Worker(caller, Pace.CLOSED_LOOP, clock, failures, wrongResponses);
        caller.worker = worker;
        worker.run();
        assertThat(latencies(worker).getTotalCount()).isEqualTo(10);
        assertThat(wrongResponses.drain()).containsExactly(Map.entry(caller.wrong, 10L));
    }

    @Test
    void shouldAddUpTheBytesOfTensors() {
        Worker worker = worker(Pace.CLOSED_LOOP, 10, call -> clock.advance(MILLI));
        worker.run();
        assertThat(worker.tensorBytes()).isEqualTo(640);
    }

    private Histogram run(Pace pace, IntConsumer server) {
        Worker worker = worker(pace, REQUESTS, server);
        worker.run();
        return latencies(worker);
    }

    private Worker worker(Pace pace, int requests, IntConsumer server) {
        ScriptedCaller caller = new ScriptedCaller(requests, server);
        Worker worker = new Worker(caller, pace, clock, failures, wrongResponses);
        caller.worker = worker;
        return worker;
    }

    private static Histogram latencies(Worker worker) {
        Histogram latencies = new Histogram(3);
        worker.drainLatencies(latencies);
        return latencies;
    }

    /** Stops its worker after so many requests. */
    private static final class ScriptedCaller implements Caller {
        private final int requests;
        private final IntConsumer server;
        private int calls;
        private String wrong = "";
        private @Nullable Worker worker;

        private ScriptedCaller(int requests, IntConsumer server) {
            this.requests = requests;
            this.server = server;
        }

        @Override
        public void prepare() {}

        @Override
        public void call() {
            int call = calls++;
            try {
                server.accept(call);
            } finally {
                if (calls == requests && worker != null) {
                    lastOne(worker);
                }
            }
        }

        private static void lastOne(Worker worker) {
            worker.stop();
        }

        @Override
        public String finish() {
            return wrong;
        }

        @Override
        public long tensorByteSize() {
            return 64;
        }

        @Override
        public void close() {}
    }
}
