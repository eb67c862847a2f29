// SPDX-License-Identifier: Apache-2.0
package gatun.it.backends;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Tensor;
import gatun.spi.BackendInstance;
import gatun.spi.CorrelationId;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.spi.StopSignal;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Adds up the elements of each sequence. */
final class SumInstance implements BackendInstance {
    private final Duration delay;
    private final boolean batching;
    private final boolean addsId;
    private final StopSignal signal = new StopSignal();
    private final Map<CorrelationId, Integer> sums = new HashMap<>();

    /**
     * An instance that knows no sequence.
     *
     * @param delay how long a run takes
     * @param batching whether each row is of another sequence
     * @param addsId whether the last step adds the sequence's number
     */
    SumInstance(Duration delay, boolean batching, boolean addsId) {
        this.delay = delay;
        this.batching = batching;
        this.addsId = addsId;
    }

    @Override
    public void execute(Execution execution) {
        signal.begin(execution);
        signal.await(delay);
        Tensor input = Inputs.named(execution, "INPUT");
        long count = input.spec().shape().elementCount();
        long rows = batching ? input.spec().shape().dim(0) : 1;
        long width = count / rows;
        execution.inferStarted();
        List<ExecutionRequest> requests = execution.requests();
        MemorySegment output = execution.output(0, Datatype.INT32, input.spec().shape(), count * Integer.BYTES);
        for (int row = 0; row < rows; row++) {
            int sum = row < requests.size() ? sum(requests.get(row), input.bytes(), row * width, width) : 0;
            for (long i = row * width; i < (row + 1) * width; i++) {
                output.setAtIndex(ElementLayouts.INT32, i, sum);
            }
        }
        execution.inferEnded();
    }

    private int sum(ExecutionRequest step, MemorySegment input, long first, long width) {
        CorrelationId id = step.correlationId().orElse(null);
        if (id == null) {
            return 0; // a gap
        }
        int sum = step.startsSequence() ? 0 : sums.getOrDefault(id, 0);
        for (long i = first; i < first + width; i++) {
            sum += input.getAtIndex(ElementLayouts.INT32, i);
        }
        if (!step.endsSequence()) {
            sums.put(id, sum);
            return sum;
        }
        sums.remove(id);
        return addsId ? sum + (int) Long.parseUnsignedLong(id.toString()) : sum;
    }

    @Override
    public void stop() {
        signal.stop();
    }
}
