// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.scheduling.Sequence;
import gatun.runtime.scheduling.SequenceStep;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The steps of sequences that run together, and their states. Where sequences keep their places in the batch, a row
 * without a step is a gap of zeros and empty strings. Used by the instance's thread only.
 */
final class SequenceBatch {
    private final Run run;
    private final SequenceModel model;
    private final ModelSignature signature;
    private final BufferPool pool;
    private final List<PendingInference> requests;
    private final List<StateExchange> states = new ArrayList<>();

    /** The step of each row; empty for a gap. */
    private final List<Optional<SequenceStep>> rows = new ArrayList<>();

    private final ControlInputs controls;
    private final StateExchanges exchanges;
    private @Nullable PendingInference gap;

    /** Whether the model has taken the steps of the run, whatever becomes of their responses. */
    private boolean committed;

    /** @param requests the rows of each run, gaps included; changed by its owner between runs */
    SequenceBatch(
            Run run, SequenceModel model, ModelSignature signature, BufferPool pool, List<PendingInference> requests) {
        this.run = run;
        this.model = model;
        this.signature = signature;
        this.pool = pool;
        this.requests = requests;
        for (int i = 0; i < model.states().size(); i++) {
            states.add(new StateExchange(i, model.states().get(i), signature, pool));
        }
        controls = new ControlInputs(run, model.controls(), signature.batching(), rows);
        exchanges = new StateExchanges(run, states);
    }

    ControlInputs controls() {
        return controls;
    }

    StateExchanges states() {
        return exchanges;
    }

    /** The rows of a run for {@code batch}; at its sequence's slot where the model wants that, with gaps. */
    List<PendingInference> rows(List<PendingInference> batch) {
        int count = model.isDirect() ? batch.getLast().step().sequence().slot() + 1 : batch.size();
        if (count == batch.size()) {
            return batch;
        }
        PendingInference empty = empty(batch.getFirst());
        gap = empty;
        List<PendingInference> all = new ArrayList<>(count);
        for (PendingInference pending : batch) {
            int row = pending.step().sequence().slot();
            while (all.size() < row) {
                all.add(empty);
            }
            all.add(pending);
        }
        return all;
    }

    /** A request that brings as much as {@code like} does, but all of it zeros, and wants nothing. */
    private PendingInference empty(PendingInference like) {
        Tensor[] inputs = new Tensor[like.tensors().inputCount()];
        for (int i = 0; i < inputs.length; i++) {
            TensorSpec spec = like.tensors().input(i).spec();
            long byteSize = spec.datatype() == Datatype.BYTES
                    ? spec.shape().elementCount() * BytesCodec.LENGTH_BYTES
                    : spec.shape().byteSize(spec.datatype());
            Buffer zeros = run.takeForRun(byteSize);
            zeros.segment().fill((byte) 0);
            inputs[i] = new Tensor(spec, zeros.segment());
        }
        return like.gap(inputs);
    }

    @SuppressWarnings("ReferenceEquality") // that very request
    boolean isGap(PendingInference pending) {
        return pending == gap;
    }

    void begin() {
        List<Optional<SequenceState>> kept = new ArrayList<>(requests.size());
        for (PendingInference pending : requests) {
            if (isGap(pending)) {
                rows.add(Optional.empty());
                kept.add(Optional.empty());
            } else {
                SequenceStep step = pending.step();
                rows.add(Optional.of(step));
                if (!states.isEmpty()) {
                    kept.add(Optional.of(state(step)));
                }
            }
        }
        for (StateExchange state : states) {
            state.begin(kept);
        }
    }

    private SequenceState state(SequenceStep step) {
        Sequence sequence = step.sequence();
        Optional<SequenceState> known = SequenceState.of(sequence);
        if (known.isPresent() && !step.starts()) {
            return known.get();
        }
        SequenceState state = known.orElseGet(() -> new SequenceState(model.states(), pool));
        sequence.keep(state);
        try {
            state.reset();
        } catch (GatunException e) {
            throw run.refuse(e);
        }
        return state;
    }

    /** Takes the states before the responses are made. Throws when one is missing or memory is short. */
    void takeStates(ScatteredOutputs outputs) {
        states.forEach(StateExchange::requireGiven);
        for (StateExchange state : states) {
            int index = signature.outputIndex(state.rule().outputName(), 0);
            if (index >= 0) {
                outputs.shareCopy(signature.output(index), state.output());
            }
        }
        try {
            states.forEach(StateExchange::prepare);
        } catch (GatunException e) {
            throw run.refuse(e);
        }
        // Where the runtime does not hold the whole state the model has taken the step already, whatever becomes of the
        // response.
        committed = states.isEmpty() || states.stream().anyMatch(StateExchange::isWrittenInPlace);
        if (committed) {
            for (int i = 0; i < rows.size(); i++) {
                commit(i);
            }
        }
    }

    /** Takes the steps whose responses cannot fail any more, and has steps run again whose model asked for that. */
    void finish() {
        for (int i = 0; i < rows.size(); i++) {
            PendingInference pending = requests.get(i);
            if (!committed && !pending.hasFailed()) {
                commit(i);
            }
            if (!isGap(pending) && pending.runsAgain()) {
                runAgain(pending);
            }
        }
    }

    private void commit(int row) {
        for (StateExchange state : states) {
            state.commit(row);
        }
        rows.get(row).ifPresent(SequenceStep::done);
    }

    /** Has a step run again, unless nobody wants its response any more, or its sequence has ended meanwhile. */
    private void runAgain(PendingInference pending) {
        if (pending.cancelled()) {
            pending.fail(new GatunException(ErrorCode.CANCELLED, ""));
        } else if (model.endsDuring(System.nanoTime() - run.startedNanos())) {
            pending.fail(RequestErrors.sequenceNotStarted(
                    pending.request(), pending.request().model().name()));
        } else if (!pending.hasFailed()) {
            pending.step().again();
        }
    }

    /** Whether a run of these steps that fails leaves no trace: all state is the runtime's, and none was taken. */
    boolean mayRunAgain() {
        return !committed && !states.isEmpty() && states.stream().noneMatch(StateExchange::isWrittenInPlace);
    }

    /** Forgets the run; the sequences keep their states. */
    void clear() {
        exchanges.clear();
        controls.clear();
        rows.clear();
        gap = null;
        committed = false;
    }

    /** All states of a model of sequences, as inputs and outputs of a run. Used by the instance's thread only. */
    static final class StateExchanges implements InputGroup {
        private final Run run;
        private final List<StateExchange> states;

        StateExchanges(Run run, List<StateExchange> states) {
            this.run = run;
            this.states = states;
        }

        @Override
        public int count() {
            return states.size();
        }

        @Override
        public TensorSpec spec(int index) {
            return states.get(index).inputSpec();
        }

        @Override
        public Tensor tensor(int index) {
            try {
                return states.get(index).input();
            } catch (GatunException e) {
                throw run.refuse(e);
            }
        }

        String outputName(int index) {
            return states.get(index).rule().outputName();
        }

        MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
            try {
                return states.get(index).output(datatype, shape, byteSize);
            } catch (GatunException e) {
                throw run.refuse(e);
            }
        }

        @Override
        public void clear() {
            states.forEach(StateExchange::clear);
        }
    }

    /** The inputs that tell a model each row's start, end, readiness and id. Used by the instance's thread only. */
    static final class ControlInputs implements InputGroup {
        private final Run run;
        private final List<SequenceControl> controls;
        private final boolean batching;
        private final List<Optional<SequenceStep>> rows;
        private final @Nullable Tensor[] written;

        /** @param rows the steps of each run, empty for a gap; changed by its owner between runs */
        ControlInputs(Run run, List<SequenceControl> controls, boolean batching, List<Optional<SequenceStep>> rows) {
            this.run = run;
            this.controls = controls;
            this.batching = batching;
            this.rows = rows;
            written = new Tensor[controls.size()];
        }

        @Override
        public int count() {
            return written.length;
        }

        @Override
        public TensorSpec spec(int index) {
            SequenceControl control = controls.get(index);
            return new TensorSpec(
                    control.name(), control.datatype(), batching ? Shape.of(rows.size(), 1) : Shape.of(1));
        }

        @Override
        public Tensor tensor(int index) {
            Tensor known = written[index];
            if (known == null) {
                known = new Tensor(spec(index), write(controls.get(index)));
                written[index] = known;
            }
            return known;
        }

        private MemorySegment write(SequenceControl control) {
            long byteSize = 0;
            for (Optional<SequenceStep> row : rows) {
                byteSize += control.rowByteSize(row);
            }
            MemorySegment bytes = run.takeForRun(byteSize).segment();
            long at = 0;
            for (Optional<SequenceStep> row : rows) {
                at = control.writeRow(row, bytes, at);
            }
            return bytes;
        }

        @Override
        public void clear() {
            Arrays.fill(written, null);
        }
    }
}
