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
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.scheduling.Sequence;
import gatun.runtime.scheduling.SequenceStep;
import gatun.runtime.statistics.ResponseTable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One run of a model for steps of sequences, also for a single one: beside what the requests bring it gets the controls and the states, and
 * gives the states of the next steps. Where sequences keep their places in the batch, a row whose sequence has no step is a gap, of zeros
 * and empty strings. Used by the instance's thread only.
 */
final class SequenceExecution extends RaggedExecution {
    private final ModelSignature signature;
    private final SequenceModel model;
    private final BufferPool pool;
    private final List<StateExchange> states = new ArrayList<>();
    private final @Nullable Tensor[] controls;

    /** What each row is to its sequence; empty for a gap. */
    private final List<Optional<SequenceStep>> rows = new ArrayList<>();

    /** Stands for all gaps of a run. */
    private @Nullable InferenceTicket gap;

    SequenceExecution(
            ModelSignature signature, SequenceModel model, BufferPool pool, @Nullable ResponseTable responses) {
        super(signature, Objects.requireNonNullElse(signature.batchTensors(), BatchTensors.NONE), pool, responses);
        this.signature = signature;
        this.model = model;
        this.pool = pool;
        controls = new Tensor[model.controls().size()];
        for (int i = 0; i < model.states().size(); i++) {
            states.add(new StateExchange(i, model.states().get(i), signature, pool));
        }
    }

    @Override
    void begin(List<InferenceTicket> batch) {
        super.begin(model.isDirect() ? withGaps(batch) : batch);
        List<Optional<SequenceState>> kept = new ArrayList<>(ticketCount());
        for (int i = 0; i < ticketCount(); i++) {
            if (isGap(ticket(i))) {
                rows.add(Optional.empty());
                kept.add(Optional.empty());
            } else {
                SequenceStep step = ticket(i).step();
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

    /** The states that a step begins with. */
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
            throw refuse(e);
        }
        return state;
    }

    /** The tickets, each at the row that is its sequence's slot. */
    private List<InferenceTicket> withGaps(List<InferenceTicket> batch) {
        int count = batch.getLast().step().sequence().slot() + 1;
        if (count == batch.size()) {
            return batch;
        }
        InferenceTicket empty = empty(batch.getFirst());
        gap = empty;
        List<InferenceTicket> all = new ArrayList<>(count);
        for (InferenceTicket ticket : batch) {
            int row = ticket.step().sequence().slot();
            while (all.size() < row) {
                all.add(empty);
            }
            all.add(ticket);
        }
        return all;
    }

    /** A ticket that brings as much as {@code like} does, but all of it zeros, and wants nothing. */
    private InferenceTicket empty(InferenceTicket like) {
        Tensor[] inputs = new Tensor[like.inputCount()];
        for (int i = 0; i < inputs.length; i++) {
            TensorSpec spec = like.input(i).spec();
            long byteSize = spec.datatype() == Datatype.BYTES
                    ? spec.shape().elementCount() * BytesCodec.LENGTH_BYTES
                    : spec.shape().byteSize(spec.datatype());
            Buffer zeros = takeForRun(byteSize);
            zeros.segment().fill((byte) 0);
            inputs[i] = new Tensor(spec, zeros.segment());
        }
        return like.gap(inputs);
    }

    @SuppressWarnings("ReferenceEquality") // that very ticket
    private boolean isGap(InferenceTicket ticket) {
        return ticket == gap;
    }

    @Override
    boolean isWanted(OutputRule rule) {
        return !model.givesState(rule.name()) && super.isWanted(rule);
    }

    @Override
    boolean isAsked(InferenceTicket ticket) {
        return !isGap(ticket);
    }

    @Override
    void finish() {
        states.forEach(StateExchange::requireGiven);
        for (StateExchange state : states) {
            show(state);
        }
        try {
            states.forEach(StateExchange::prepare);
        } catch (GatunException e) {
            throw refuse(e);
        }
        // Where the runtime does not hold the whole state the model has taken the step already, whatever becomes of the
        // answer.
        boolean taken = states.isEmpty() || states.stream().anyMatch(StateExchange::isWrittenInPlace);
        if (taken) {
            commitAll();
        }
        super.finish();
        if (!taken) {
            commitAnswered();
        }
        for (int i = 0; i < ticketCount(); i++) {
            if (isAsked(ticket(i)) && ticket(i).runsAgain()) {
                goOn(ticket(i));
            }
        }
    }

    private void commitAll() {
        for (int i = 0; i < rows.size(); i++) {
            commit(i);
        }
    }

    /** Takes the steps whose answers cannot fail any more; the others have not happened for their sequences. */
    private void commitAnswered() {
        for (int i = 0; i < rows.size(); i++) {
            if (!ticket(i).hasFailed()) {
                commit(i);
            }
        }
    }

    private void commit(int row) {
        for (int i = 0; i < states.size(); i++) {
            states.get(i).commit(row);
        }
        rows.get(row).ifPresent(SequenceStep::done);
    }

    /** Has a step run again, unless nobody wants its answer any more. */
    private static void goOn(InferenceTicket ticket) {
        if (ticket.isUnwanted()) {
            ticket.fail(new GatunException(ErrorCode.CANCELLED, ""));
        } else if (!ticket.hasFailed()) {
            ticket.step().again();
        }
    }

    /** Answers the requests that want to see a state. */
    private void show(StateExchange state) {
        int index = signature.outputIndex(state.rule().outputName(), 0);
        if (index < 0 || !super.isWanted(signature.output(index))) {
            return;
        }
        Tensor given = state.output();
        List<InferenceTicket> tickets = new ArrayList<>(ticketCount());
        for (int i = 0; i < ticketCount(); i++) {
            tickets.add(ticket(i));
        }
        BatchOutput shown = new BatchOutput(signature.output(index), signature, pool, tickets);
        try {
            TensorCopy.copy(
                    given.bytes(),
                    shown.memory(given.spec().shape(), given.bytes().byteSize()));
            shown.shareOut();
        } finally {
            shown.close();
        }
    }

    @Override
    void clear() {
        states.forEach(StateExchange::clear);
        Arrays.fill(controls, null);
        rows.clear();
        gap = null;
        super.clear();
    }

    @Override
    public int inputCount() {
        return super.inputCount() + controls.length + states.size();
    }

    @Override
    public TensorSpec inputSpec(int index) {
        int own = index - super.inputCount();
        if (own >= controls.length) {
            return states.get(own - controls.length).inputSpec();
        }
        if (own >= 0) {
            SequenceControl control = model.controls().get(own);
            return new TensorSpec(
                    control.name(), control.datatype(), signature.batching() ? Shape.of(rows.size(), 1) : Shape.of(1));
        }
        return signature.batching()
                ? super.inputSpec(index)
                : ticket(0).input(index).spec();
    }

    @Override
    public Tensor input(int index) {
        int own = index - super.inputCount();
        if (own < 0) {
            return super.input(index);
        }
        if (own >= controls.length) {
            try {
                return states.get(own - controls.length).input();
            } catch (GatunException e) {
                throw refuse(e);
            }
        }
        Tensor known = controls[own];
        if (known == null) {
            known = new Tensor(inputSpec(index), write(model.controls().get(own)));
            controls[own] = known;
        }
        return known;
    }

    private MemorySegment write(SequenceControl control) {
        long byteSize = 0;
        for (Optional<SequenceStep> row : rows) {
            byteSize += control.rowByteSize(row);
        }
        MemorySegment bytes = takeForRun(byteSize).segment();
        long at = 0;
        for (Optional<SequenceStep> row : rows) {
            at = control.writeRow(row, bytes, at);
        }
        return bytes;
    }

    @Override
    public int outputCount() {
        return super.outputCount() + states.size();
    }

    @Override
    public String outputName(int index) {
        int own = index - super.outputCount();
        return own < 0 ? super.outputName(index) : states.get(own).rule().outputName();
    }

    @Override
    public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
        int own = index - super.outputCount();
        if (own < 0) {
            return super.output(index, datatype, shape, byteSize);
        }
        try {
            return states.get(own).output(datatype, shape, byteSize);
        } catch (GatunException e) {
            throw refuse(e);
        }
    }

    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        if (output < super.outputCount() && input < super.inputCount()) {
            super.outputFromInput(output, input, shape);
            return;
        }
        Tensor source = input(input);
        MemorySegment bytes = source.bytes();
        TensorCopy.copy(bytes, output(output, source.spec().datatype(), shape, bytes.byteSize()));
    }

    @Override
    void check(OutputRule rule, Datatype datatype, Shape shape) {
        if (signature.batching()) {
            super.check(rule, datatype, shape);
        } else {
            rule.answered(datatype, shape, signature);
            rule.requireShape(shape, 0, signature);
        }
    }
}
