// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import gatun.bench.data.DataPlan;
import gatun.bench.data.GeneratedTensors;
import gatun.bench.data.InputShapes;
import gatun.memory.tensor.Shape;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags that say what is sent, and what is expected back. */
final class DataFlags {
    private static final String RANDOM = "random";
    private static final String ZERO = "zero";

    @Option(
            names = "--shape",
            paramLabel = "NAME:DIM,...",
            converter = FlagValue.NamedShape.class,
            description =
                    "The shape of an input that the model leaves open, with a batch's dimension or without. May be"
                            + " given"
                            + " several times.")
    List<Map.Entry<String, Shape>> shapes = new ArrayList<>();

    @Option(
            names = {"-b", "--batch"},
            paramLabel = "N",
            converter = FlagValue.Count.class,
            description = "How many inferences a request has, for models that take batches. (1)")
    int batch = 1;

    @Option(
            names = {"--data", "--input-data"},
            paramLabel = "random|zero|FILE",
            description = "What is sent: made-up data, or a JSON file in the form of perf_analyzer. (random)")
    String data = RANDOM;

    @Option(
            names = "--string-length",
            paramLabel = "N",
            converter = FlagValue.Count.class,
            description = "How long made-up strings are. (128)")
    int stringLength = 128;

    @Option(
            names = "--string-data",
            paramLabel = "TEXT",
            description = "What every string is, instead of a made-up one.")
    Optional<String> stringData = Optional.empty();

    @Option(
            names = "--expect",
            paramLabel = "FILE",
            description =
                    "Compare the answers with the outputs of this JSON file: the member validation_data in the form of"
                            + " perf_analyzer, or outputs by name. (validation_data of --data)")
    Optional<Path> expected = Optional.empty();

    @Option(
            names = "--tolerance",
            paramLabel = "X",
            converter = FlagValue.Tolerance.class,
            description =
                    "By how much, absolutely and in proportion, a number with a fraction may differ from the expected"
                            + " one. (1e-5)")
    double tolerance = 1e-5;

    @Option(
            names = "--sequence-length",
            paramLabel = "N",
            converter = FlagValue.Count.class,
            description =
                    "Send sequences of so many requests, for models that keep state; with a data file each of its lists"
                            + " is a sequence.")
    Optional<Integer> sequenceLength = Optional.empty();

    /** Whether requests belong to sequences. */
    boolean inSequences() {
        return sequenceLength.isPresent();
    }

    /** The data that is sent, in words. */
    String text() {
        return data.equals(RANDOM) || data.equals(ZERO) ? data : "file " + data;
    }

    /** Where the data comes from. */
    DataPlan plan(long seed) {
        Map<String, Shape> given = new HashMap<>();
        shapes.forEach(shape -> given.put(shape.getKey(), shape.getValue()));
        boolean isFile = !data.equals(RANDOM) && !data.equals(ZERO);
        return new DataPlan(
                new InputShapes(given, batch),
                new GeneratedTensors(data.equals(RANDOM), stringData, stringLength, seed),
                isFile ? Optional.of(Path.of(data)) : Optional.empty(),
                expected,
                tolerance,
                sequenceLength.orElse(1));
    }
}
