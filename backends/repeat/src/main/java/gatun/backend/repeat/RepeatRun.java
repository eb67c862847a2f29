// SPDX-License-Identifier: Apache-2.0
package gatun.backend.repeat;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.spi.DetachedRun;
import gatun.spi.Execution;
import gatun.spi.StopSignal;
import java.time.Duration;

/** One run: sends one response after the other, or the one of an iteration. */
final class RepeatRun implements DetachedRun {
    static final String IN = "IN";
    static final String DELAY = "DELAY";
    static final String WAIT = "WAIT";
    static final String OUT = "OUT";
    static final String IDX = "IDX";
    static final String NEXT_IN = "NEXT_IN";
    static final String NEXT_OUT = "NEXT_OUT";

    private final boolean iterative;
    private final StopSignal signal = new StopSignal();

    /** @param iterative whether a run answers with one element, and asks for another run while there are more */
    RepeatRun(boolean iterative) {
        this.iterative = iterative;
    }

    @Override
    public void run(Execution execution) {
        signal.begin(execution);
        long startedNanos = System.nanoTime();
        Tensor in = input(execution, IN);
        Tensor delays = input(execution, DELAY);
        long count = in.spec().shape().elementCount();
        if (delays.spec().shape().elementCount() != count) {
            throw GatunException.invalidArgument("expected IN and DELAY shape to match, got "
                    + in.spec().shape() + " and " + delays.spec().shape() + "; give one delay for each element");
        }
        Duration least = leastDuration(execution);
        long first = iterative ? unsigned(input(execution, NEXT_IN), 0) : 0;
        long end = iterative ? Math.min(count, first + 1) : count;
        execution.inferStarted();
        for (long i = first; i < end; i++) {
            signal.await(Duration.ofMillis(unsigned(delays, i)));
            respond(execution, in.bytes().getAtIndex(ElementLayouts.INT32, i), (int) i);
            execution.send();
        }
        execution.inferEnded();
        if (iterative) {
            goOnAt(execution, (int) end);
        }
        if (end < count) {
            execution.requests().getFirst().runAgain();
            return;
        }
        signal.await(least.minusNanos(System.nanoTime() - startedNanos));
    }

    /** How long the run is to take at least. */
    static Duration leastDuration(Execution execution) {
        return Duration.ofMillis(unsigned(input(execution, WAIT), 0));
    }

    /** Waits that long, or until nobody wants the run's responses. */
    void hold(Duration time) {
        try {
            signal.await(time);
        } catch (GatunException stopped) {
            // The run itself fails by that.
        }
    }

    private static void respond(Execution execution, int element, int index) {
        for (int i = 0; i < execution.outputCount(); i++) {
            if (execution.outputName(i).equals(NEXT_OUT)) {
                continue; // of the run, not of a response
            }
            boolean isElement = execution.outputName(i).equals(OUT);
            execution
                    .output(i, isElement ? Datatype.INT32 : Datatype.UINT32, Shape.of(1), Integer.BYTES)
                    .set(ElementLayouts.INT32, 0, isElement ? element : index);
        }
    }

    private static void goOnAt(Execution execution, int next) {
        for (int i = 0; i < execution.outputCount(); i++) {
            if (execution.outputName(i).equals(NEXT_OUT)) {
                execution.output(i, Datatype.UINT32, Shape.of(1), Integer.BYTES).set(ElementLayouts.INT32, 0, next);
            }
        }
    }

    private static long unsigned(Tensor tensor, long index) {
        return Integer.toUnsignedLong(tensor.bytes().getAtIndex(ElementLayouts.INT32, index));
    }

    private static Tensor input(Execution execution, String name) {
        for (int i = 0; i < execution.inputCount(); i++) {
            if (execution.inputSpec(i).name().equals(name)) {
                return execution.input(i);
            }
        }
        throw GatunException.invalidArgument(
                "the request leaves input '" + name + "' out, which the repeat backend needs");
    }

    @Override
    public void stop() {
        signal.stop();
    }
}
