// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.spi.Datatypes;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.util.List;

/**
 * Compares a configuration with the signature that it describes, at load, so that no request is the first to find out.
 */
final class ConfigCheck {
    private final ModelConfig config;

    private ConfigCheck(ModelConfig config) {
        this.config = config;
    }

    /**
     * Checks names, datatypes and dimensions.
     *
     * @throws GatunException INVALID_ARGUMENT for the first that does not fit
     */
    static void run(ModelConfig config, EntryPoint entryPoint) {
        ConfigCheck check = new ConfigCheck(config);
        for (ModelInput input : config.getInputList()) {
            check.check(
                    "input",
                    entryPoint.inputs(),
                    input.getName(),
                    Datatypes.of(input.getDataType()),
                    input.hasReshape() ? input.getReshape().getShapeList() : input.getDimsList());
        }
        for (EntryTensor input : entryPoint.inputs()) {
            if (config.getInputList().stream()
                    .noneMatch(known -> known.getName().equals(input.spec().name()))) {
                throw GatunException.invalidArgument("unable to load model '" + config.getName()
                        + "', configuration misses input '" + input.spec().name() + "' of the model's signature '"
                        + entryPoint.name() + "', inputs are: " + names(entryPoint.inputs()));
            }
        }
        for (ModelOutput output : config.getOutputList()) {
            check.check(
                    "output",
                    entryPoint.outputs(),
                    output.getName(),
                    Datatypes.of(output.getDataType()),
                    output.hasReshape() ? output.getReshape().getShapeList() : output.getDimsList());
        }
    }

    private void check(String kind, List<EntryTensor> tensors, String name, Datatype datatype, List<Long> dims) {
        EntryTensor tensor = tensors.stream()
                .filter(candidate -> candidate.spec().name().equals(name))
                .findFirst()
                .orElseThrow(() -> GatunException.invalidArgument("unexpected inference " + kind + " '" + name
                        + "', allowed " + kind + "s are: " + names(tensors)));
        if (tensor.spec().datatype() != datatype) {
            throw GatunException.invalidArgument("unable to load model '" + config.getName()
                    + "', configuration expects datatype " + Datatypes.configured(datatype) + " for " + kind + " '"
                    + name + "', model provides "
                    + Datatypes.configured(tensor.spec().datatype()));
        }
        Shape own = Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
        Shape full = config.getMaxBatchSize() > 0 ? own.prepend(Shape.VARIABLE) : own;
        if (!tensor.anyShape() && !compatible(full, tensor.spec().shape())) {
            throw GatunException.invalidArgument("unable to load model '" + config.getName()
                    + "', configuration expects "
                    + kind + " '" + name + "' with shape " + full + ", the batch dimension included where there is one,"
                    + " model provides " + tensor.spec().shape());
        }
    }

    private static boolean compatible(Shape configured, Shape actual) {
        boolean same = configured.rank() == actual.rank();
        for (int i = 0; same && i < actual.rank(); i++) {
            long a = configured.dim(i);
            long b = actual.dim(i);
            same = a == b || a == Shape.VARIABLE || b == Shape.VARIABLE;
        }
        return same;
    }

    private static List<String> names(List<EntryTensor> tensors) {
        return tensors.stream().map(tensor -> tensor.spec().name()).sorted().toList();
    }
}
