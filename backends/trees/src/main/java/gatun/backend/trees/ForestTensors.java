// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.backend.trees.Forest.ForestOutput;
import gatun.backend.trees.Forest.Quantity;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Datatypes;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.util.List;

/** The input and outputs of a configuration and a forest, by Triton's FIL rules. Immutable. */
final class ForestTensors {
    static final String INPUT = "input__0";

    private final Forest forest;
    private final Settings settings;
    private final ModelConfig config;

    ForestTensors(Forest forest, Settings settings, ModelConfig config) {
        this.forest = forest;
        this.settings = settings;
        this.config = config;
    }

    List<EntryTensor> inputs() {
        return List.of(
                EntryTensor.of(new TensorSpec(INPUT, Datatype.FP32, Shape.of(Shape.VARIABLE, forest.features()))));
    }

    List<EntryTensor> outputs() {
        int width = settings.choosesClass() ? 1 : forest.columns(Quantity.VALUE);
        return List.of(EntryTensor.of(
                new TensorSpec(Quantity.VALUE.output(), Datatype.FP32, Shape.of(Shape.VARIABLE, width))));
    }

    EntryPoint entryPoint(List<ForestOutput> outputs) {
        TensorSpec input = new TensorSpec(
                INPUT, Datatypes.of(config.getInput(0).getDataType()), Shape.of(Shape.VARIABLE, forest.features()));
        return EntryPoint.only(
                List.of(input),
                outputs.stream()
                        .map(output -> new TensorSpec(
                                output.quantity().output(), output.form().datatype(), output.shape(Shape.VARIABLE)))
                        .toList());
    }

    /** The configured outputs. Throws {@link ConfigurationException} for the first tensor that does not fit. */
    List<ForestOutput> check() {
        if (config.getInputCount() != 1 || !config.getInput(0).getName().equals(INPUT)) {
            throw new ConfigurationException(
                    ConfigurationPath.of("input"),
                    "unable to load model '" + config.getName() + "', configuration has the inputs "
                            + config.getInputList().stream()
                                    .map(ModelInput::getName)
                                    .toList()
                            + ", expected one input '" + INPUT + "' with the features of each row");
        }
        checkInput(config.getInput(0));
        return config.getOutputList().stream().map(this::output).toList();
    }

    private void checkInput(ModelInput input) {
        ConfigurationPath path = ConfigurationPath.of("input", INPUT);
        Datatype datatype = Datatypes.of(input.getDataType());
        if (datatype != Datatype.FP32 && datatype != Datatype.FP64) {
            throw wrongType(path, datatype, "TYPE_FP32 or TYPE_FP64");
        }
        Shape dims = row(path, input.hasReshape() ? input.getReshape().getShapeList() : input.getDimsList());
        if (dims.rank() != 1 || (dims.dim(0) != Shape.VARIABLE && dims.dim(0) != forest.features())) {
            throw wrongDims(path, dims, "[" + forest.features() + "]", "its features");
        }
    }

    private ForestOutput output(ModelOutput output) {
        ConfigurationPath path = ConfigurationPath.of("output", output.getName());
        Quantity quantity = Quantity.ofOutput(output.getName())
                .orElseThrow(() -> new ConfigurationException(
                        path,
                        "unexpected inference output '" + output.getName() + "', allowed outputs are: "
                                + Quantity.outputs()));
        Datatype datatype = Datatypes.of(output.getDataType());
        Shape dims = row(path, output.hasReshape() ? output.getReshape().getShapeList() : output.getDimsList());
        int columns = forest.columns(quantity);
        boolean isLeaf = quantity == Quantity.LEAVES;
        if (isLeaf ? datatype != Datatype.INT32 : datatype != Datatype.FP32 && datatype != Datatype.FP64) {
            throw wrongType(path, datatype, isLeaf ? "TYPE_INT32" : "TYPE_FP32 or TYPE_FP64");
        }
        OutputForm form = new OutputForm(kind(quantity, columns, dims), datatype, columns, settings.threshold());
        if (dims.elementCount() != form.width()) {
            throw wrongDims(path, dims, expected(quantity, columns), meaning(quantity));
        }
        return ForestOutput.of(quantity, form, dims);
    }

    private OutputForm.Kind kind(Quantity quantity, int columns, Shape dims) {
        if (quantity == Quantity.VALUE && settings.choosesClass()) {
            return OutputForm.Kind.CLASS;
        }
        boolean both =
                quantity == Quantity.VALUE && settings.probabilities() && columns == 1 && dims.elementCount() == 2;
        return both ? OutputForm.Kind.BOTH_CLASSES : OutputForm.Kind.PLAIN;
    }

    private String expected(Quantity quantity, int columns) {
        return switch (quantity) {
            case VALUE ->
                settings.choosesClass()
                        ? "[1]"
                        : settings.probabilities() && columns == 1 ? "[1] or [2]" : "[" + columns + "]";
            case CONTRIBUTIONS -> {
                int each = forest.features() + 1;
                yield columns == each ? "[" + each + "]" : "[" + columns / each + "," + each + "]";
            }
            case LEAVES -> "[" + columns + "]";
        };
    }

    private String meaning(Quantity quantity) {
        return switch (quantity) {
            case VALUE ->
                settings.choosesClass()
                        ? "a class, since " + "predict_proba is not true"
                        : "what it predicts for a row";
            case CONTRIBUTIONS -> "its features and one more for what they do not explain";
            case LEAVES -> "its trees";
        };
    }

    /** The dimensions of a row: without batches, the configuration has the rows too. */
    private Shape row(ConfigurationPath path, List<Long> dims) {
        Shape shape = Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
        if (config.getMaxBatchSize() > 0) {
            return shape;
        }
        if (shape.rank() == 0 || shape.dim(0) != Shape.VARIABLE) {
            throw new ConfigurationException(
                    path.then("dims"),
                    "unable to load model '" + config.getName() + "': dims " + shape
                            + " without max_batch_size; expected -1 for the number of rows in front",
                    "write max_batch_size: 32768, and dims without the rows");
        }
        return shape.withoutFirst();
    }

    private ConfigurationException wrongType(ConfigurationPath path, Datatype datatype, String expected) {
        return new ConfigurationException(
                path.then("data_type"),
                "unable to load model '" + config.getName() + "', configuration has datatype "
                        + Datatypes.configured(datatype) + ", expected " + expected);
    }

    private ConfigurationException wrongDims(ConfigurationPath path, Shape dims, String expected, String meaning) {
        return new ConfigurationException(
                path.then("dims"),
                "unable to load model '" + config.getName() + "', configuration has dims " + dims
                        + " for a row, the model has " + expected + ": " + meaning);
    }
}
