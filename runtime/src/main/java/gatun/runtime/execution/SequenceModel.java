// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.runtime.InferenceRequest;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.runtime.configuration.StateTensor;
import gatun.runtime.scheduling.BatchPolicy;
import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import gatun.runtime.scheduling.SequencePolicy;
import gatun.runtime.scheduling.SequencePolicy.Strategy;
import gatun.runtime.scheduling.SequenceStep;
import gatun.spi.CorrelationId;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelSequenceBatching;
import gatun.wire.inference.ModelSequenceBatching.Control;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** How a model handles sequences, prepared from its configuration when it is loaded. Safe for any thread. */
final class SequenceModel {
    private final String modelName;
    private final SequencePolicy policy;
    private final List<SequenceControl> controls;
    private final List<StateTensor> states;
    private final boolean statesVary;

    /** How many sequences the server has named. */
    private final AtomicLong assigned = new AtomicLong();

    private SequenceModel(
            String modelName, SequencePolicy policy, List<SequenceControl> controls, List<StateTensor> states) {
        this.modelName = modelName;
        this.policy = policy;
        this.controls = List.copyOf(controls);
        this.states = List.copyOf(states);
        statesVary = states.stream().anyMatch(state -> !state.dims().isFixed());
    }

    /** The sequence settings of {@code config}; null when its requests belong to no sequences. */
    static @Nullable SequenceModel of(ModelConfig config, List<StateTensor> states, int queueLimit) {
        if (!config.hasSequenceBatching()) {
            return null;
        }
        ModelSequenceBatching batching = config.getSequenceBatching();
        List<SequenceControl> controls = batching.getControlInputList().stream()
                .filter(input -> input.getControlCount() > 0)
                .map(SequenceControl::of)
                .toList();
        return new SequenceModel(config.getName(), policy(config, batching, queueLimit), controls, states);
    }

    private static SequencePolicy policy(ModelConfig config, ModelSequenceBatching batching, int queueLimit) {
        int maxBatchSize = config.getMaxBatchSize();
        boolean oldest = batching.hasOldest();
        int candidates = batching.getOldest().getMaxCandidateSequences();
        long delayMicros = oldest
                ? batching.getOldest().getMaxQueueDelayMicroseconds()
                : batching.getDirect().getMaxQueueDelayMicroseconds();
        BatchPolicy batches = new BatchPolicy(
                Math.max(1, maxBatchSize),
                batching.getOldest().getPreferredBatchSizeList().stream()
                        .sorted()
                        .toList(),
                TimeUnit.MICROSECONDS.toNanos(delayMicros),
                false,
                QueueCapacities.all(queueLimit));
        return new SequencePolicy(
                oldest ? Strategy.OLDEST : Strategy.DIRECT,
                oldest && candidates > 0 ? candidates : Math.max(1, maxBatchSize),
                batches,
                batching.getDirect().getMinimumSlotUtilization(),
                TimeUnit.MICROSECONDS.toNanos(batching.getMaxSequenceIdleMicroseconds()),
                batching.getIterativeSequence());
    }

    SequencePolicy policy() {
        return policy;
    }

    List<SequenceControl> controls() {
        return controls;
    }

    List<StateTensor> states() {
        return states;
    }

    /** Whether a sequence keeps its place in the batch. */
    boolean isDirect() {
        return policy.strategy() == Strategy.DIRECT;
    }

    /** Whether a request may be run again and again, and is a sequence of its own where its client names none. */
    boolean isIterative() {
        return policy.iterative();
    }

    /**
     * Whether a run that takes so long ends the sequence of a repeated request: only if the configuration sets an idle
     * time of its own, as a request that runs does not wait.
     */
    boolean endsDuring(long runNanos) {
        return policy.iterative()
                && policy.maxIdleNanos() != TimeUnit.MICROSECONDS.toNanos(ModelConfiguration.DEFAULT_IDLE_MICROS)
                && runNanos >= policy.maxIdleNanos();
    }

    boolean givesState(String output) {
        for (StateTensor state : states) {
            if (state.outputName().equals(output)) {
                return true;
            }
        }
        return false;
    }

    /** A request as a step; {@code batchSize} 0 means no batch dimension. Throws INVALID_ARGUMENT. */
    SequenceStep step(InferenceRequest request, int batchSize) {
        if (batchSize > 1) {
            throw GatunException.invalidArgument("inference request to model '" + modelName
                    + "' must specify batch-size 1 due to requirements of sequence batcher");
        }
        if (isIterative() && request.correlationId().isEmpty()) {
            return new SequenceStep(new AssignedId(assigned.incrementAndGet()), true, false);
        }
        CorrelationId id = request.correlationId()
                .orElseThrow(() -> GatunException.invalidArgument("inference request to model '" + modelName
                        + "' must specify a non-zero or non-empty correlation ID"));
        for (SequenceControl control : controls) {
            if (control.kind() == Control.Kind.CONTROL_SEQUENCE_CORRID) {
                checkKind(request, id, control);
            }
        }
        return new SequenceStep(id, request.sequenceStart(), request.sequenceEnd());
    }

    private void checkKind(InferenceRequest request, CorrelationId id, SequenceControl control) {
        Datatype given =
                switch (id) {
                    case CorrelationId.Uint64 number -> Datatype.UINT64;
                    case CorrelationId.Text text -> Datatype.BYTES;
                };
        if ((given == Datatype.BYTES) != (control.datatype() == Datatype.BYTES)) {
            throw GatunException.invalidArgument(RequestErrors.prefix(request) + "sequence batching control '"
                    + control.name() + "' data-type is '" + given.wireName() + "', but model '" + modelName
                    + "' expects '" + control.datatype().wireName() + "'");
        }
    }

    /** Whether the states that two steps begin with have the same shapes, so that the steps may run together. */
    boolean haveSameStates(SequenceStep one, SequenceStep other) {
        if (!statesVary) {
            return true;
        }
        for (int i = 0; i < states.size(); i++) {
            if (!stateShape(one, i).equals(stateShape(other, i))) {
                return false;
            }
        }
        return true;
    }

    private Shape stateShape(SequenceStep step, int index) {
        Optional<SequenceState> state = step.starts() ? Optional.empty() : SequenceState.of(step.sequence());
        return state.map(known -> known.shape(index))
                .orElseGet(() -> states.get(index).initial().shape());
    }
}
