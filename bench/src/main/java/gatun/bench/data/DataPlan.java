// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import gatun.bench.data.DataSet.Step;
import gatun.bench.data.JsonFile.JsonValue;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The sources of the data of a run.
 *
 * @param shapes the dimensions that a model leaves open
 * @param generated tensors that no file has
 * @param data a file of tensors; empty for generated ones
 * @param expected a file of expected outputs; empty for those of the data file, if it has any
 * @param tolerance by how much numbers may differ from the expected ones
 * @param sequenceLength how many requests a generated sequence has; 1 where there are no sequences
 */
public record DataPlan(
        InputShapes shapes,
        GeneratedTensors generated,
        Optional<Path> data,
        Optional<Path> expected,
        double tolerance,
        int sequenceLength) {
    /** The data for {@code model}; the caller closes it. Throws {@link DataException} for a wrong or unfit file. */
    public DataSet open(ModelDescription model) {
        shapes.requireInputsOf(model);
        Arena arena = Arena.ofShared();
        try {
            return new DataSet(steps(model, arena), arena);
        } catch (RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    private List<Step> steps(ModelDescription model, Arena arena) {
        Optional<DataFile> file = data.map(DataFile::read);
        List<List<List<Tensor>>> sequences = file.isPresent() ? read(file.get(), model, arena) : made(model, arena);
        Optional<DataFile> responses = expected.isPresent() ? expected.map(DataFile::read) : file;
        List<ExpectedOutputs> wanted = new ArrayList<>();
        responses.ifPresent(from -> from.expected()
                .forEach(sequence -> sequence.forEach(step -> wanted.add(expected(from.file(), model, arena, step)))));
        int count = sequences.stream().mapToInt(List::size).sum();
        if (wanted.size() > 1 && wanted.size() != count) {
            throw new DataException(responses.get().file().name() + " has expected outputs of " + wanted.size()
                    + " requests: expected one for all, or one for each of the " + count + " requests");
        }
        List<Step> steps = new ArrayList<>();
        for (List<List<Tensor>> sequence : sequences) {
            for (int i = 0; i < sequence.size(); i++) {
                ExpectedOutputs wants =
                        wanted.isEmpty() ? ExpectedOutputs.NOTHING : wanted.get(wanted.size() == 1 ? 0 : steps.size());
                steps.add(new Step(sequence.get(i), wants, i == 0, i == sequence.size() - 1));
            }
        }
        return steps;
    }

    private List<List<List<Tensor>>> made(ModelDescription model, Arena arena) {
        List<Tensor> inputs = new ArrayList<>();
        for (TensorSpec input : model.inputs()) {
            if (!model.optionalInputs().contains(input.name())) {
                inputs.add(made(model, input, arena));
            }
        }
        List<List<Tensor>> sequence = new ArrayList<>();
        for (int i = 0; i < sequenceLength; i++) {
            sequence.add(inputs);
        }
        return List.of(sequence);
    }

    private Tensor made(ModelDescription model, TensorSpec input, Arena arena) {
        return generated.tensor(new TensorSpec(input.name(), input.datatype(), shapes.fixed(model, input)), arena);
    }

    private List<List<List<Tensor>>> read(DataFile from, ModelDescription model, Arena arena) {
        TensorFileReader reader = new TensorFileReader(from.file(), model.batched(), shapes.batch(), arena);
        List<List<List<Tensor>>> sequences = new ArrayList<>();
        for (List<JsonValue.Obj> sequence : from.data()) {
            List<List<Tensor>> steps = new ArrayList<>();
            for (JsonValue.Obj step : sequence) {
                steps.add(inputs(from, model, reader, step));
            }
            sequences.add(steps);
        }
        return sequences;
    }

    private List<Tensor> inputs(DataFile from, ModelDescription model, TensorFileReader reader, JsonValue.Obj step) {
        Map<String, JsonValue> given = new LinkedHashMap<>(step.members());
        List<Tensor> inputs = new ArrayList<>();
        for (TensorSpec input : model.inputs()) {
            JsonValue value = given.remove(input.name());
            if (value != null) {
                TensorSpec spec = new TensorSpec(input.name(), input.datatype(), shapes.of(model, input));
                inputs.add(reader.tensor(spec, value));
            } else if (!model.optionalInputs().contains(input.name())) {
                throw from.file()
                        .wrong(step, "input '" + input.name() + "' of model '" + model.name() + "' is missing");
            }
        }
        for (Map.Entry<String, JsonValue> unknown : given.entrySet()) {
            throw from.file()
                    .wrong(
                            unknown.getValue(),
                            "model '" + model.name() + "' has no input '" + unknown.getKey() + "': it has "
                                    + InputShapes.names(model));
        }
        return inputs;
    }

    private ExpectedOutputs expected(JsonFile file, ModelDescription model, Arena arena, JsonValue.Obj step) {
        TensorFileReader reader = new TensorFileReader(file, model.batched(), shapes.batch(), arena);
        List<Tensor> outputs = new ArrayList<>();
        step.members().forEach((name, value) -> {
            TensorSpec output = model.outputs().stream()
                    .filter(spec -> spec.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> file.wrong(
                            value,
                            "model '" + model.name() + "' has no output '" + name + "': it has "
                                    + model.outputs().stream()
                                            .map(TensorSpec::name)
                                            .toList()));
            TensorSpec spec = new TensorSpec(
                    name,
                    output.datatype(),
                    model.batched()
                                    && output.shape().rank() > 0
                                    && output.shape().dim(0) < 0
                            ? output.shape().withFirst(shapes.batch())
                            : output.shape());
            outputs.add(reader.tensor(spec, value));
        });
        return new ExpectedOutputs(outputs, tolerance);
    }

    /**
     * A file in perf_analyzer's format, <code>{"data": [...], "validation_data": [...]}</code>: lists of objects with
     * tensors by their names, or of such lists, each a sequence.
     */
    record DataFile(JsonFile file, List<List<JsonValue.Obj>> data, List<List<JsonValue.Obj>> expected) {
        /** Reads {@code path}; an object without these members is itself one request's expected outputs. */
        static DataFile read(Path path) {
            JsonFile file = JsonFile.read(path);
            if (!(file.root() instanceof JsonValue.Obj root)) {
                throw file.wrong(file.root(), "expected an object with the member 'data'");
            }
            Map<String, JsonValue> members = root.members();
            if (!members.containsKey("data") && !members.containsKey("validation_data")) {
                return new DataFile(file, List.of(), List.of(List.of(root)));
            }
            return new DataFile(file, sequences(file, root, "data"), sequences(file, root, "validation_data"));
        }

        @Override
        public List<List<JsonValue.Obj>> data() {
            if (data.isEmpty()) {
                throw file.wrong(file.root(), "expected a member 'data' with at least one request");
            }
            return data;
        }

        private static List<List<JsonValue.Obj>> sequences(JsonFile file, JsonValue.Obj root, String member) {
            JsonValue value = root.members().get(member);
            if (value == null) {
                return List.of();
            }
            if (!(value instanceof JsonValue.Arr list)) {
                throw file.wrong(value, "'" + member + "': expected an array of objects");
            }
            List<List<JsonValue.Obj>> sequences = new ArrayList<>();
            for (JsonValue element : list.elements()) {
                switch (element) {
                    case JsonValue.Obj step -> sequences.add(List.of(step));
                    case JsonValue.Arr sequence -> {
                        List<JsonValue.Obj> steps = new ArrayList<>();
                        sequence.elements().forEach(step -> steps.add(object(file, step, member)));
                        if (!steps.isEmpty()) {
                            sequences.add(steps);
                        }
                    }
                    case JsonValue.Text other -> throw notObject(file, other, member);
                    case JsonValue.Num other -> throw notObject(file, other, member);
                    case JsonValue.Bool other -> throw notObject(file, other, member);
                    case JsonValue.Null other -> throw notObject(file, other, member);
                }
            }
            return sequences;
        }

        private static JsonValue.Obj object(JsonFile file, JsonValue value, String member) {
            if (value instanceof JsonValue.Obj step) {
                return step;
            }
            throw notObject(file, value, member);
        }

        private static DataException notObject(JsonFile file, JsonValue value, String member) {
            return file.wrong(value, "an element of '" + member + "': expected an object of tensors by their names");
        }
    }
}
