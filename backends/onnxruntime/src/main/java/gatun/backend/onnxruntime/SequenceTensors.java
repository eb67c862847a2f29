package gatun.backend.onnxruntime;

import gatun.memory.Datatype;
import gatun.memory.Shape;
import gatun.protocol.inference.ModelConfig;
import gatun.protocol.inference.ModelSequenceBatching.ControlInput;
import gatun.protocol.inference.ModelSequenceBatching.State;
import gatun.runtime.spi.Datatypes;
import java.util.ArrayList;
import java.util.List;

/** The tensors of a model that no request brings or gets, because its configuration gives them to sequences. Immutable. */
final class SequenceTensors {
    /** A tensor, with its dimensions without the batch dimension. */
    record Described(String name, Datatype datatype, Shape dims) {}

    private final List<Described> inputs = new ArrayList<>();
    private final List<Described> outputs = new ArrayList<>();

    /** Those of {@code config}, which has been checked. */
    SequenceTensors(ModelConfig config) {
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
    List<Described> inputs() {
        return inputs;
    }

    /** The states that the model gives. */
    List<Described> outputs() {
        return outputs;
    }

    boolean hasInput(String name) {
        return inputs.stream().anyMatch(input -> input.name().equals(name));
    }

    boolean hasOutput(String name) {
        return outputs.stream().anyMatch(output -> output.name().equals(name));
    }
}
