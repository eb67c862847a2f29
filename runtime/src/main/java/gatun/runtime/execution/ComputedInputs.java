// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The inputs that the configuration's {@code batch_input} has made of the shapes in a batch. Used by the instance's
 * thread only.
 */
final class ComputedInputs implements InputGroup {
    private final Run run;
    private final List<BatchInputRule> rules;
    private final List<InferenceTicket> tickets;
    private final @Nullable Tensor[] made;

    /** @param tickets the requests of each run, in their order; changed by its owner between runs */
    ComputedInputs(Run run, List<BatchInputRule> rules, List<InferenceTicket> tickets) {
        this.run = run;
        this.rules = rules;
        this.tickets = tickets;
        made = new Tensor[rules.size()];
    }

    @Override
    public int count() {
        return made.length;
    }

    @Override
    public TensorSpec spec(int index) {
        BatchInputRule rule = rules.get(index);
        return rule.spec(sources(rule));
    }

    /** The shapes that the source of {@code rule} has in the requests of the batch. */
    private List<Shape> sources(BatchInputRule rule) {
        // All requests of a batch bring the same inputs.
        int index = tickets.getFirst().tensors().inputIndex(rule.sourceInput());
        if (index < 0) {
            throw run.refuse(GatunException.invalidArgument("input '" + rule.sourceInput()
                    + "' must be given: the batch input '" + rule.name() + "' of the model is made of it"));
        }
        List<Shape> shapes = new ArrayList<>(tickets.size());
        for (InferenceTicket ticket : tickets) {
            shapes.add(ticket.tensors().input(index).spec().shape());
        }
        return shapes;
    }

    @Override
    public Tensor tensor(int index) {
        Tensor known = made[index];
        if (known == null) {
            known = compute(rules.get(index));
            made[index] = known;
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
        Arrays.fill(made, null);
    }
}
