// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.execution.Run.ModelExecution;
import gatun.runtime.statistics.ResponseTable;
import gatun.spi.ExecutionRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One run of an instance for several requests or steps of sequences. Inputs, in this order: of the requests, computed
 * from shapes, controls of sequences, states. Outputs: those wanted, states. Used by the instance's thread only.
 */
final class BatchExecution implements ModelExecution {
    private final Run run;
    private final List<PendingInference> requests = new ArrayList<>();
    private final GatheredInputs gathered;
    private final List<InputGroup> inputs = new ArrayList<>();
    private final ScatteredOutputs outputs;
    private final BatchResponses responses;

    /** The steps that run; null unless the runs are for steps of sequences. */
    private final @Nullable SequenceBatch sequences;

    private ModelSignature signature;

    /** {@code model} is null without sequences; {@code counters}, of single responses, null unless decoupled. */
    BatchExecution(
            ModelSignature signature,
            @Nullable SequenceModel model,
            BufferPool pool,
            @Nullable ResponseTable counters) {
        this.signature = signature;
        run = new Run(pool);
        gathered = new GatheredInputs(run, signature, requests);
        inputs.add(gathered);
        BatchTensors batchTensors = signature.batchTensors();
        if (batchTensors != null) {
            inputs.add(new ComputedInputs(run, batchTensors.inputs(), requests));
        }
        sequences = model == null ? null : new SequenceBatch(run, model, signature, pool, requests);
        if (sequences != null) {
            inputs.add(sequences.controls());
            inputs.add(sequences.states());
        }
        outputs = new ScatteredOutputs(
                run, pool, signature, requests, model == null ? rule -> true : rule -> !model.givesState(rule.name()));
        responses = new BatchResponses(run, outputs, requests, this::isAsked, counters);
    }

    /** Begins a run for requests that all {@linkplain PendingInference#joins join} the first. */
    void begin(List<PendingInference> batch) {
        run.start();
        requests.addAll(sequences == null ? batch : sequences.rows(batch));
        signature = requests.getFirst().signature();
        gathered.begin(signature);
        outputs.begin(signature, gathered.runRows());
        responses.begin();
        if (sequences != null) {
            sequences.begin();
        }
    }

    /** Whether somebody waits for the response to {@code pending}, which is not only there to fill a gap. */
    private boolean isAsked(PendingInference pending) {
        return sequences == null || !sequences.isGap(pending);
    }

    int batchSize() {
        return gathered.rows();
    }

    /** Whether the requests of a failed run may run again: not if a step of a sequence has changed its state. */
    boolean mayRunAgain() {
        return sequences == null || sequences.mayRunAgain();
    }

    @Override
    public Run run() {
        return run;
    }

    @Override
    public long timeLeftNanos() {
        long most = Long.MIN_VALUE;
        for (int i = 0; i < requests.size(); i++) {
            if (isAsked(requests.get(i))) {
                most = Math.max(most, requests.get(i).timeLeftNanos());
            }
        }
        return most;
    }

    @Override
    public void finish() {
        if (sequences != null) {
            sequences.takeStates(outputs);
        }
        responses.finish();
        run.end();
        if (sequences != null) {
            sequences.finish();
        }
    }

    @Override
    public void breakOff() {
        responses.breakOff();
    }

    @Override
    public void clear() {
        outputs.clear();
        responses.clear();
        inputs.forEach(InputGroup::clear);
        if (sequences != null) {
            sequences.clear();
        }
        requests.clear();
        run.clear();
    }

    private void requireRunning() {
        if (requests.isEmpty()) {
            throw Run.afterRun();
        }
        run.requireThread();
    }

    @Override
    public List<ExecutionRequest> requests() {
        requireRunning();
        return Collections.unmodifiableList(requests);
    }

    @Override
    public void send() {
        requireRunning();
        responses.send();
    }

    @Override
    public String entryPoint() {
        return signature.entryPoint().name();
    }

    @Override
    public int inputCount() {
        int count = 0;
        for (int i = 0; i < inputs.size(); i++) {
            count += inputs.get(i).count();
        }
        return count;
    }

    @Override
    public TensorSpec inputSpec(int index) {
        int own = index;
        for (InputGroup group : inputs) {
            if (own < group.count()) {
                return group.spec(own);
            }
            own -= group.count();
        }
        throw new IndexOutOfBoundsException(index);
    }

    @Override
    public Tensor input(int index) {
        requireRunning();
        int own = index;
        for (InputGroup group : inputs) {
            if (own < group.count()) {
                return group.tensor(own);
            }
            own -= group.count();
        }
        throw new IndexOutOfBoundsException(index);
    }

    @Override
    public DeviceMemory input(int index, DeviceTransfers transfers) {
        requireRunning();
        return index < gathered.count() ? gathered.onDevice(index, transfers) : transfers.bring(input(index));
    }

    @Override
    public int outputCount() {
        return outputs.count() + (sequences == null ? 0 : sequences.states().count());
    }

    @Override
    public String outputName(int index) {
        int state = index - outputs.count();
        return state < 0 || sequences == null
                ? outputs.name(index)
                : sequences.states().outputName(state);
    }

    @Override
    public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
        requireRunning();
        int state = index - outputs.count();
        return state < 0 || sequences == null
                ? outputs.memory(index, datatype, shape, byteSize)
                : sequences.states().output(state, datatype, shape, byteSize);
    }

    @Override
    public DeviceMemory output(int index, Datatype datatype, Shape shape, long byteSize, DeviceTransfers transfers) {
        requireRunning();
        return outputs.isForDevice(index, transfers)
                ? outputs.deviceMemory(index, datatype, shape, byteSize, transfers)
                : transfers.deliver(output(index, datatype, shape, byteSize));
    }

    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        requireRunning();
        // Of several responses the next may show the same input, and only one could own it; padding is no request's.
        boolean shows = output < outputs.count()
                && input < gathered.count()
                && !responses.areMany()
                && !gathered.isPadded(input);
        Datatype datatype = inputSpec(input).datatype();
        if (shows) {
            outputs.fromInput(output, input, datatype, shape);
            return;
        }
        MemorySegment bytes = input(input).bytes();
        TensorCopy.copy(bytes, output(output, datatype, shape, bytes.byteSize()));
    }

    /** The inputs that {@code batch_input} makes of the shapes in a batch. Used by the instance's thread only. */
    static final class ComputedInputs implements InputGroup {
        private final Run run;
        private final List<BatchInputRule> rules;
        private final List<PendingInference> requests;
        private final @Nullable Tensor[] computed;

        /** @param requests the requests of each run, in their order; changed by its owner between runs */
        ComputedInputs(Run run, List<BatchInputRule> rules, List<PendingInference> requests) {
            this.run = run;
            this.rules = rules;
            this.requests = requests;
            computed = new Tensor[rules.size()];
        }

        @Override
        public int count() {
            return computed.length;
        }

        @Override
        public TensorSpec spec(int index) {
            BatchInputRule rule = rules.get(index);
            return rule.spec(sources(rule));
        }

        private List<Shape> sources(BatchInputRule rule) {
            // All requests of a batch bring the same inputs.
            int index = requests.getFirst().tensors().inputIndex(rule.sourceInput());
            if (index < 0) {
                throw run.refuse(GatunException.invalidArgument("input '" + rule.sourceInput()
                        + "' must be given: the batch input '" + rule.name() + "' of the model is made of it"));
            }
            List<Shape> shapes = new ArrayList<>(requests.size());
            for (PendingInference pending : requests) {
                shapes.add(pending.tensors().input(index).spec().shape());
            }
            return shapes;
        }

        @Override
        public Tensor tensor(int index) {
            Tensor known = computed[index];
            if (known == null) {
                known = compute(rules.get(index));
                computed[index] = known;
            }
            return known;
        }

        private Tensor compute(BatchInputRule rule) {
            List<Shape> sources = sources(rule);
            TensorSpec spec = rule.spec(sources);
            Buffer buffer = run.takeForRun(spec.shape().byteSize(spec.datatype()));
            try {
                rule.write(sources, buffer.segment());
            } catch (GatunException e) {
                throw run.refuse(e);
            }
            return new Tensor(spec, buffer.segment());
        }

        @Override
        public void clear() {
            Arrays.fill(computed, null);
        }
    }
}
