// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelSequenceBatching.ControlInput;
import gatun.wire.inference.ModelSequenceBatching.State;
import java.util.ArrayList;
import java.util.List;

/**
 * The tensors of a model that no request brings or gets, because its configuration gives them to sequences. Immutable.
 */
public final class SequenceTensors {
    /** A tensor; {@code dims} are without the batch dimension. */
    public record Described(String name, Datatype datatype, Shape dims) {}

    private final List<Described> inputs = new ArrayList<>();
    private final List<Described> outputs = new ArrayList<>();

    /** Those of {@code config}, which has been checked. */
    public SequenceTensors(ModelConfig config) {
        for (ControlInput control : config.getSequenceBatching().getControlInputList()) {
            inputs.add(new Described(control.getName(), Datatypes.ofControl(control.getControl(0)), Shape.of(1)));
        }
        for (State state : config.getSequenceBatching().getStateList()) {
            Datatype datatype = Datatypes.of(state.getDataType());
            Shape dims = Shape.of(
                    state.getDimsList().stream().mapToLong(Long::longValue).toArray());
            inputs.add(new Described(state.getInputName(), datatype, dims));
            outputs.add(new Described(state.getOutputName(), datatype, dims));
        }
    }

    /** The controls and the states that the model gets. */
    public List<Described> inputs() {
        return inputs;
    }

    /** The states that the model gives. */
    public List<Described> outputs() {
        return outputs;
    }

    /** Whether {@link #inputs} has one of that name. */
    public boolean hasInput(String name) {
        return inputs.stream().anyMatch(input -> input.name().equals(name));
    }

    /** Whether {@link #outputs} has one of that name. */
    public boolean hasOutput(String name) {
        return outputs.stream().anyMatch(output -> output.name().equals(name));
    }
}
