// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.statistics.ResponseTable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One run of a model with {@link BatchTensors}, also for a single request, since the model gets the same form of input then. Used by the
 * instance's thread only.
 */
class RaggedExecution extends BatchExecution {
    private final BatchTensors tensors;
    private final @Nullable Tensor[] made;

    RaggedExecution(
            ModelSignature signature, BatchTensors tensors, BufferPool pool, @Nullable ResponseTable responses) {
        super(signature, pool, responses);
        this.tensors = tensors;
        made = new Tensor[tensors.inputs().size()];
    }

    @Override
    void clear() {
        super.clear();
        Arrays.fill(made, null);
    }

    @Override
    public int inputCount() {
        return super.inputCount() + made.length;
    }

    @Override
    public TensorSpec inputSpec(int index) {
        if (index >= super.inputCount()) {
            BatchInputRule rule = tensors.inputs().get(index - super.inputCount());
            return rule.spec(sources(rule));
        }
        TensorSpec first = ticket(0).input(index).spec();
        return tensors.isRagged(first.name())
                ? new TensorSpec(first.name(), first.datatype(), Shape.of(elementCount(index)))
                : super.inputSpec(index);
    }

    private long elementCount(int index) {
        long count = 0;
        for (int i = 0; i < ticketCount(); i++) {
            count += ticket(i).input(index).spec().shape().elementCount();
        }
        return count;
    }

    /** The shapes that the source of {@code rule} has in the requests of the batch. */
    private List<Shape> sources(BatchInputRule rule) {
        // All requests of a batch bring the same inputs.
        int index = ticket(0).inputIndex(rule.sourceInput());
        if (index < 0) {
            throw refuse(GatunException.invalidArgument("input '" + rule.sourceInput()
                    + "' must be given: the batch input '" + rule.name() + "' of the model is made of it"));
        }
        List<Shape> shapes = new ArrayList<>(ticketCount());
        for (int i = 0; i < ticketCount(); i++) {
            shapes.add(ticket(i).input(index).spec().shape());
        }
        return shapes;
    }

    @Override
    public Tensor input(int index) {
        int own = index - super.inputCount();
        if (own < 0) {
            return super.input(index);
        }
        Tensor known = made[own];
        if (known == null) {
            known = make(tensors.inputs().get(own));
            made[own] = known;
        }
        return known;
    }

    private Tensor make(BatchInputRule rule) {
        List<Shape> sources = sources(rule);
        TensorSpec spec = rule.spec(sources);
        Buffer buffer = takeForRun(spec.shape().byteSize(spec.datatype()));
        try {
            rule.write(sources, buffer.segment());
        } catch (GatunException e) {
            throw refuse(e);
        }
        return new Tensor(spec, buffer.segment());
    }

    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        if (input < super.inputCount()) {
            super.outputFromInput(output, input, shape);
            return;
        }
        Tensor source = input(input);
        MemorySegment bytes = source.bytes();
        TensorCopy.copy(bytes, output(output, source.spec().datatype(), shape, bytes.byteSize()));
    }

    @Override
    void check(OutputRule rule, Datatype datatype, Shape shape) {
        if (tensors.scattered(rule.name()) == null) {
            super.check(rule, datatype, shape);
        } else if (datatype != rule.datatype()) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "unexpected datatype " + datatype.wireName() + " for inference output '" + rule.name()
                            + "', expecting " + rule.datatype().wireName() + " for " + modelName());
        }
    }
}
