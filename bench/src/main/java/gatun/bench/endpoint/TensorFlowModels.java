// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.ModelDescription;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import java.util.List;

/** Makes a model's description from a signature. */
final class TensorFlowModels {
    private TensorFlowModels() {}

    /**
     * The description of a signature's tensors.
     *
     * @throws TargetException when an input is of a datatype that cannot be sent
     */
    static ModelDescription describe(String model, List<TensorSpec> inputs, List<TensorSpec> outputs) {
        for (TensorSpec input : inputs) {
            if (input.datatype() == Datatype.INVALID) {
                throw new TargetException("input '" + input.name() + "' of model '" + model
                        + "' is of a datatype that cannot be sent: expected numbers, truth values or strings");
            }
        }
        // Signatures do not tell of batches: one whose inputs all begin with a variable dimension takes them.
        boolean batched = !inputs.isEmpty()
                && inputs.stream()
                        .allMatch(input ->
                                input.shape().rank() > 0 && input.shape().dim(0) == Shape.VARIABLE);
        return new ModelDescription(model, inputs, outputs, batched, false, List.of());
    }

    /** A model that the server does not know, in the server's words. */
    static TargetException refused(String address, String model, String said) {
        return new TargetException("the server at " + address + " does not serve model '" + model + "': " + said);
    }

    /** A signature that the model does not have. */
    static TargetException noSignature(String model, String signature, Object known) {
        return new TargetException(
                "model '" + model + "' has no signature '" + signature + "': use --signature with one of " + known);
    }
}
