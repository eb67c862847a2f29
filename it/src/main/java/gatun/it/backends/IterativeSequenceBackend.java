// SPDX-License-Identifier: Apache-2.0
package gatun.it.backends;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Tensor;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.CorrelationId;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.spi.StopSignal;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts down from {@code INPUT}, of INT32: each run answers with the next number as {@code OUTPUT}, and the request
 * runs again until that is 0. A run takes half a second.
 */
public final class IterativeSequenceBackend implements Backend {
    /** For {@link java.util.ServiceLoader}. */
    public IterativeSequenceBackend() {}

    @Override
    public String name() {
        return "iterative_sequence";
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        return spec -> new CountdownInstance();
    }

    /** Serves one row at a time, or several. */
    private static final class CountdownInstance implements BackendInstance {
        private static final Duration RUN_TIME = Duration.ofMillis(500);
        private static final CorrelationId NONE = new CorrelationId.Uint64(0);

        private final StopSignal signal = new StopSignal();
        private final Map<CorrelationId, Integer> left = new HashMap<>();

        @Override
        public void execute(Execution execution) {
            signal.begin(execution);
            Tensor input = Inputs.named(execution, "INPUT");
            execution.inferStarted();
            var output = execution.output(0, Datatype.INT32, input.spec().shape(), input.byteSize());
            int row = 0;
            for (ExecutionRequest request : execution.requests()) {
                output.setAtIndex(ElementLayouts.INT32, row, next(request, input, row));
                row++;
            }
            signal.await(RUN_TIME);
            execution.inferEnded();
        }

        private int next(ExecutionRequest request, Tensor input, int row) {
            CorrelationId id = request.correlationId().orElse(NONE);
            int next = left.getOrDefault(id, input.bytes().getAtIndex(ElementLayouts.INT32, row)) - 1;
            if (next > 0) {
                // Fails where the model is not iterative, and nothing may stay of such a request.
                request.runAgain();
                left.put(id, next);
            } else {
                left.remove(id);
            }
            return next;
        }

        @Override
        public void stop() {
            signal.stop();
        }
    }
}
