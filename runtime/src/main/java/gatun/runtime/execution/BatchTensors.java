// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Shape;
import gatun.spi.Datatypes;
import gatun.wire.inference.BatchInput;
import gatun.wire.inference.BatchOutput.Kind;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The tensors of a configuration whose size differs between the requests of a batch: ragged inputs, which the backend
 * gets as one row; inputs that tell where each request's elements lie; outputs cut by an input's shapes. Immutable.
 */
final class BatchTensors {
    static final BatchTensors NONE = new BatchTensors(Set.of(), List.of(), Map.of());

    private final Set<String> ragged;
    private final List<BatchInputRule> inputs;
    private final Map<String, ScatterRule> scattered;

    private BatchTensors(Set<String> ragged, List<BatchInputRule> inputs, Map<String, ScatterRule> scattered) {
        this.ragged = Set.copyOf(ragged);
        this.inputs = List.copyOf(inputs);
        this.scattered = Map.copyOf(scattered);
    }

    /** The tensors of a configuration that has been checked; null when it has none of this kind. */
    static @Nullable BatchTensors of(ModelConfig config, OutputRule[] outputs) {
        Set<String> ragged = new HashSet<>();
        for (ModelInput input : config.getInputList()) {
            if (input.getAllowRaggedBatch()) {
                ragged.add(input.getName());
            }
        }
        List<BatchInputRule> inputs = new ArrayList<>();
        for (BatchInput input : config.getBatchInputList()) {
            for (String target : input.getTargetNameList()) {
                inputs.add(new BatchInputRule(
                        target, input.getKind(), Datatypes.of(input.getDataType()), input.getSourceInput(0)));
            }
        }
        Map<String, ScatterRule> scattered = new HashMap<>();
        for (gatun.wire.inference.BatchOutput output : config.getBatchOutputList()) {
            if (output.getKind() == Kind.BATCH_SCATTER_WITH_INPUT_SHAPE) {
                for (String target : output.getTargetNameList()) {
                    scattered.put(target, new ScatterRule(output.getSourceInput(0), dims(outputs, target)));
                }
            }
        }
        return ragged.isEmpty() && inputs.isEmpty() && scattered.isEmpty()
                ? null
                : new BatchTensors(ragged, inputs, scattered);
    }

    private static Shape dims(OutputRule[] outputs, String name) {
        for (OutputRule output : outputs) {
            if (output.name().equals(name)) {
                return output.backendDims();
            }
        }
        throw new AssertionError("the configuration was not checked: it has no output '" + name + "'");
    }

    /** Whether requests may differ in the shape of this input and still run together. */
    boolean isRagged(String input) {
        return ragged.contains(input);
    }

    /** Whether the configuration wants one tensor for all requests: it tells where each one's elements lie in it. */
    boolean joinsRequests() {
        return !inputs.isEmpty() || !scattered.isEmpty();
    }

    /** The inputs that are made of the batch, after those that requests bring. */
    List<BatchInputRule> inputs() {
        return inputs;
    }

    /** How an output is cut; null for one that has a row for each row of the batch. */
    @Nullable
    ScatterRule scattered(String output) {
        return scattered.get(output);
    }

    /** Cuts an output by an input's shapes; variable {@code backendDims}, without the batch, are as large as there. */
    record ScatterRule(String sourceInput, Shape backendDims) {
        /** The shape of a request's piece for its source input's; both have the batch dimension. */
        Shape piece(Shape source) {
            long[] dims = backendDims.prepend(Shape.VARIABLE).toArray();
            for (int i = 0; i < dims.length; i++) {
                if (dims[i] == Shape.VARIABLE) {
                    dims[i] = source.dim(i);
                }
            }
            return Shape.of(dims);
        }
    }
}
