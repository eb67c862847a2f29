// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.GatunException;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelEnsembling.Step;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Checks an ensemble against the configurations that its members are served with. */
final class MemberRules {
    private static final long VARIABLE = -1;

    private final ModelConfig ensemble;

    /** Facts known of each ensemble tensor, and the model that they come from. */
    private final Map<String, Known> tensors = new HashMap<>();

    /** A tensor as a model describes it: {@code dims} without the batch dimension, {@code fullDims} with it. */
    private record Known(String model, DataType datatype, List<Long> dims, List<Long> fullDims) {
        static Known of(ModelConfig model, DataType datatype, List<Long> dims) {
            List<Long> full = new ArrayList<>(dims);
            if (model.getMaxBatchSize() > 0) {
                full.addFirst(VARIABLE);
            }
            return new Known(model.getName(), datatype, dims, full);
        }
    }

    private MemberRules(ModelConfig ensemble) {
        this.ensemble = ensemble;
        for (ModelInput input : ensemble.getInputList()) {
            List<Long> dims = input.hasReshape() ? input.getReshape().getShapeList() : input.getDimsList();
            tensors.put(input.getName(), Known.of(ensemble, input.getDataType(), dims));
        }
        for (ModelOutput output : ensemble.getOutputList()) {
            // One that is an input too was said once already; they must agree like any other two.
            List<Long> dims = output.hasReshape() ? output.getReshape().getShapeList() : output.getDimsList();
            agree(output.getName(), Known.of(ensemble, output.getDataType(), dims));
        }
    }

    /** Checks every step. Throws INVALID_ARGUMENT with the first broken rule. */
    static void check(ModelConfig ensemble, List<ModelConfig> members) {
        MemberRules rules = new MemberRules(ensemble);
        for (int i = 0; i < members.size(); i++) {
            rules.check(ensemble.getEnsembleScheduling().getStep(i), members.get(i));
        }
    }

    private void check(Step step, ModelConfig member) {
        // Members that do not batch get a batch as one tensor where their dimensions allow it, and otherwise one row.
        require(
                member.getMaxBatchSize() == 0 || member.getMaxBatchSize() >= ensemble.getMaxBatchSize(),
                "ensemble " + ensemble.getName() + " allows maximum batch size " + ensemble.getMaxBatchSize()
                        + ", but it contains model " + member.getName()
                        + " which only allows maximum batch size to be " + member.getMaxBatchSize());
        List<String> inputs =
                member.getInputList().stream().map(ModelInput::getName).toList();
        step.getInputMapMap()
                .forEach((input, tensor) -> require(
                        inputs.contains(input),
                        "in ensemble " + ensemble.getName() + ", ensemble tensor " + tensor
                                + " is mapping to non-existing input " + input + " in model " + member.getName()));
        for (ModelInput input : member.getInputList()) {
            if (step.containsInputMap(input.getName())) {
                agree(
                        step.getInputMapOrThrow(input.getName()),
                        Known.of(member, input.getDataType(), input.getDimsList()));
            } else {
                require(
                        input.getOptional(),
                        "in ensemble " + ensemble.getName() + ", input " + input.getName() + " in model "
                                + member.getName() + " is not mapped to any ensemble tensors");
            }
        }
        List<String> outputs =
                member.getOutputList().stream().map(ModelOutput::getName).toList();
        step.getOutputMapMap()
                .forEach((output, tensor) -> require(
                        outputs.contains(output),
                        "in ensemble " + ensemble.getName() + ", ensemble tensor " + tensor
                                + " is mapped from non-existing output " + output + " in model " + member.getName()));
        for (ModelOutput output : member.getOutputList()) {
            if (step.containsOutputMap(output.getName())) {
                agree(
                        step.getOutputMapOrThrow(output.getName()),
                        Known.of(member, output.getDataType(), output.getDimsList()));
            }
        }
    }

    private void agree(String tensor, Known other) {
        Known known = tensors.putIfAbsent(tensor, other);
        if (known == null) {
            return;
        }
        String subject = "in ensemble " + ensemble.getName() + ", ensemble tensor " + tensor + ": ";
        require(
                known.datatype() == other.datatype(),
                subject + "inconsistent data type: " + known.datatype() + " is inferred from model " + known.model()
                        + " while " + other.datatype() + " is inferred from model " + other.model());
        // A model without a batch dimension may name it among its dimensions, where one with a batch dimension does
        // not.
        require(
                agree(known.dims(), other.dims()) || agree(known.fullDims(), other.fullDims()),
                subject + "inconsistent shape: " + text(known.fullDims()) + " is inferred from model " + known.model()
                        + " while " + text(other.fullDims()) + " is inferred from model " + other.model());
    }

    private static boolean agree(List<Long> dims, List<Long> others) {
        if (dims.size() != others.size()) {
            return false;
        }
        for (int i = 0; i < dims.size(); i++) {
            long dim = dims.get(i);
            long other = others.get(i);
            if (dim != VARIABLE && other != VARIABLE && dim != other) {
                return false;
            }
        }
        return true;
    }

    private static String text(List<Long> dims) {
        return dims.stream().map(String::valueOf).collect(Collectors.joining(",", "[", "]"));
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw GatunException.invalidArgument(otherwise);
        }
    }
}
