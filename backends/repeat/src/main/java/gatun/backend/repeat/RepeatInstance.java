package gatun.backend.repeat;

import gatun.memory.Datatype;
import gatun.memory.ElementLayouts;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.runtime.spi.BackendInstance;
import gatun.runtime.spi.Execution;
import gatun.runtime.spi.StopSignal;
import java.time.Duration;

/** Sends one response after the other. */
final class RepeatInstance implements BackendInstance {
    static final String IN = "IN";
    static final String DELAY = "DELAY";
    static final String WAIT = "WAIT";
    static final String OUT = "OUT";
    static final String IDX = "IDX";

    private final StopSignal signal = new StopSignal();

    @Override
    public void execute(Execution execution) {
        signal.begin(execution);
        long startedNanos = System.nanoTime();
        Tensor in = input(execution, IN);
        Tensor delays = input(execution, DELAY);
        long count = in.spec().shape().elementCount();
        if (delays.spec().shape().elementCount() != count) {
            throw GatunException.invalidArgument(
                    "input 'DELAY' has shape " + delays.spec().shape() + " but input 'IN' has "
                            + in.spec().shape() + "; expected one delay for each element");
        }
        long waitMillis = unsigned(input(execution, WAIT), 0);
        execution.inferStarted();
        for (long i = 0; i < count; i++) {
            signal.await(Duration.ofMillis(unsigned(delays, i)));
            respond(execution, in.bytes().getAtIndex(ElementLayouts.INT32, i), (int) i);
            execution.send();
        }
        execution.inferEnded();
        signal.await(Duration.ofMillis(waitMillis).minusNanos(System.nanoTime() - startedNanos));
    }

    private static void respond(Execution execution, int element, int index) {
        for (int i = 0; i < execution.outputCount(); i++) {
            boolean isElement = execution.outputName(i).equals(OUT);
            execution
                    .output(i, isElement ? Datatype.INT32 : Datatype.UINT32, Shape.of(1), Integer.BYTES)
                    .set(ElementLayouts.INT32, 0, isElement ? element : index);
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
