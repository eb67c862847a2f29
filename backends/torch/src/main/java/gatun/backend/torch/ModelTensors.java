// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Datatypes;
import gatun.spi.SequenceTensors;
import gatun.spi.model.ConfiguredTensors;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A configuration's tensors beside the model's, by place ({@code INPUT__0}) or Python's names. */
final class ModelTensors {
    private static final Pattern PLACE = Pattern.compile("(INPUT|OUTPUT)__(\\d{1,5})");
    private static final String INPUT = "INPUT";
    private static final String OUTPUT = "OUTPUT";

    private final ModelConfig config;
    private final LoadedPackage model;
    private final boolean batches;
    private final Map<String, Integer> inputs = new HashMap<>();
    private final Map<String, Output> outputs = new HashMap<>();

    /** An output, with its configured datatype. */
    record Output(int position, Datatype datatype) {}

    private ModelTensors(ModelConfig config, LoadedPackage model) {
        this.config = config;
        this.model = model;
        batches = config.getMaxBatchSize() > 0;
    }

    /** Finds the tensors of {@code config} in the model. Throws {@link ConfigurationException} for the first misfit. */
    static ModelTensors of(ModelConfig config, LoadedPackage model) {
        ModelTensors tensors = new ModelTensors(config, model);
        tensors.findInputs();
        tensors.findOutputs();
        return tensors;
    }

    static boolean usesPlaces(ModelConfig config) {
        SequenceTensors sequence = new SequenceTensors(config);
        return config.getInputList().stream().anyMatch(input -> isPlace(input.getName()))
                || config.getOutputList().stream().anyMatch(output -> isPlace(output.getName()))
                || sequence.inputs().stream().anyMatch(input -> isPlace(input.name()));
    }

    private static boolean isPlace(String name) {
        return PLACE.matcher(name).matches();
    }

    static String place(boolean input, int position) {
        return (input ? INPUT : OUTPUT) + "__" + position;
    }

    Map<String, Integer> inputs() {
        return inputs;
    }

    Map<String, Output> outputs() {
        return outputs;
    }

    List<String> inputNames() {
        String[] names = new String[model.inputNames().size()];
        inputs.forEach((name, position) -> names[position] = name);
        return List.of(names);
    }

    private void findInputs() {
        for (ModelInput input : config.getInputList()) {
            List<Long> dims = input.hasReshape() ? input.getReshape().getShapeList() : input.getDimsList();
            addInput(input.getName(), Datatypes.of(input.getDataType()), shape(dims), "input");
        }
        for (SequenceTensors.Described input : new SequenceTensors(config).inputs()) {
            addInput(input.name(), input.datatype(), input.dims(), "sequence_batching");
        }
        if (inputs.size() != model.inputNames().size()) {
            throw new ConfigurationException(
                    ConfigurationPath.of("input"),
                    "unable to load model '" + config.getName() + "', configuration has " + inputs.size()
                            + " of the inputs that the model takes: " + String.join(", ", model.inputNames()));
        }
    }

    private static Shape shape(List<Long> dims) {
        return Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
    }

    private void addInput(String name, Datatype datatype, Shape dims, String field) {
        ConfigurationPath path = path(field, name);
        int position = position(name, INPUT, model.inputNames(), path);
        if (inputs.containsValue(position)) {
            throw new ConfigurationException(
                    path,
                    "input '" + name + "' is the model's input " + position
                            + ", which has another name in this configuration");
        }
        inputs.put(name, position);
        checkDatatype(name, datatype, path);
        if (model.forms().isPresent()) {
            check(name, datatype, dims, model.forms().get().get(position), path);
        }
    }

    private static ConfigurationPath path(String field, String name) {
        return field.equals("sequence_batching") ? ConfigurationPath.of(field) : ConfigurationPath.of(field, name);
    }

    private int position(String name, String kind, List<String> names, ConfigurationPath path) {
        Matcher place = PLACE.matcher(name);
        if (place.matches() && place.group(1).equals(kind)) {
            int position = Integer.parseInt(place.group(2));
            if (position < names.size()) {
                return position;
            }
        }
        int position = names.indexOf(name);
        if (position < 0) {
            throw new ConfigurationException(
                    path,
                    "unable to load model '" + config.getName() + "', it has no tensor '" + name + "'; it has "
                            + String.join(", ", names) + (names.size() == 1 ? ", or " : ", or by their places ")
                            + kind + "__0" + (names.size() == 1 ? "" : " to " + kind + "__" + (names.size() - 1)));
        }
        return position;
    }

    private static void checkDatatype(String name, Datatype datatype, ConfigurationPath path) {
        if (!ElementTypes.has(datatype)) {
            throw new ConfigurationException(
                    path.then("data_type"),
                    "tensor '" + name + "' has datatype " + Datatypes.configured(datatype)
                            + ", which PyTorch has no tensors of");
        }
    }

    private void check(String name, Datatype datatype, Shape dims, InputForm form, ConfigurationPath path) {
        if (form.datatype() != datatype) {
            throw new ConfigurationException(
                    path.then("data_type"),
                    "unable to load model '" + config.getName() + "', configuration expects datatype "
                            + Datatypes.configured(datatype) + " for input '" + name + "', model provides "
                            + (form.datatype() == Datatype.INVALID
                                    ? "one that no protocol can carry"
                                    : Datatypes.configured(form.datatype())));
        }
        Shape full = batches ? dims.prepend(Shape.VARIABLE) : dims;
        if (!ConfiguredTensors.areCompatible(full, form.shape())) {
            throw new ConfigurationException(
                    path.then("dims"),
                    "unable to load model '" + config.getName() + "', configuration expects input '" + name
                            + "' with shape " + full + ", the batch dimension included where there is one,"
                            + " model provides " + form.shape());
        }
        if (batches) {
            checkBatch(name, form.extents().getFirst());
        }
    }

    private void checkBatch(String name, Extent first) {
        boolean always = first.isFixed();
        if (config.getMaxBatchSize() > first.most() || (always && first.most() > 1)) {
            throw new ConfigurationException(
                    ConfigurationPath.of("max_batch_size"),
                    "max_batch_size is " + config.getMaxBatchSize() + ", input '" + name + "' of the model takes "
                            + (always ? "exactly " : "at most ") + first.most() + " rows",
                    always
                            ? "write max_batch_size: 0 and all dimensions, or export the model with a dynamic batch"
                            : "write at most " + first.most() + ", or export the model with a larger range");
        }
    }

    private void findOutputs() {
        for (ModelOutput output : config.getOutputList()) {
            addOutput(
                    output.getName(),
                    Datatypes.of(output.getDataType()),
                    ConfigurationPath.of("output", output.getName()));
        }
        for (SequenceTensors.Described output : new SequenceTensors(config).outputs()) {
            addOutput(output.name(), output.datatype(), ConfigurationPath.of("sequence_batching"));
        }
    }

    private void addOutput(String name, Datatype datatype, ConfigurationPath path) {
        outputs.put(name, new Output(position(name, OUTPUT, model.outputNames(), path), datatype));
        checkDatatype(name, datatype, path);
    }

    /** What must hold of shapes; empty where nothing of them is known, and the operator wants no checks. */
    Optional<ShapeRules> rules() {
        if (model.forms().isPresent()) {
            return Optional.of(new ShapeRules(model.forms().get(), inputNames()));
        }
        if (Settings.uncheckedShapes(config)) {
            return Optional.empty();
        }
        throw new ConfigurationException(
                ConfigurationPath.MODEL,
                "model '" + config.getName() + "': " + model.what()
                        + " does not say which shapes its inputs must have: it"
                        + " lacks the C++ that it was compiled of, or that of a version of PyTorch that writes it in"
                        + " other words. Requests of other shapes would have the model read beyond its memory",
                "package the model again with PyTorch 2.13; or, where you trust all who may send requests, write"
                        + " parameters { key: \"" + Settings.UNCHECKED_SHAPES
                        + "\" value: { string_value: \"true\" } }");
    }
}
