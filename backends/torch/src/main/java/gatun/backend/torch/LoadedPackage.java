// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Owns a model that was loaded from its package, with its weights. Safe for any thread; closed once, after the last run. */
final class LoadedPackage implements AutoCloseable {
    private static final String STANDARD_NAME = "model.pt2";

    private final Container container;
    private final Weights weights;
    private final Optional<List<InputForm>> forms;
    private final List<String> inputNames;
    private final List<String> outputNames;
    private final String what;
    private final boolean throwsInThreads;

    private LoadedPackage(Container container, Weights weights, Optional<List<InputForm>> forms, ModelPackage source) {
        this.container = container;
        this.weights = weights;
        what = source.what();
        throwsInThreads = source.throwsInThreads();
        Optional<Container.Nesting> nesting = container.nesting();
        inputNames = names(
                nesting.flatMap(tree -> CallSpec.inputs(tree.inputs())),
                container.inputCount(),
                position -> ModelTensors.place(true, position));
        outputNames = names(
                nesting.flatMap(tree -> CallSpec.outputs(tree.outputs())),
                container.outputCount(),
                position -> ModelTensors.place(false, position));
        this.forms = forms.filter(all -> all.size() == inputNames.size() && ShapeRules.areKnown(all));
    }

    /** Those of the call if there are as many as tensors; some leaves of calls are none, such as numbers. */
    private static List<String> names(Optional<List<String>> called, int count, IntFunction<String> place) {
        return called.filter(names -> names.size() == count)
                .orElseGet(() -> IntStream.range(0, count).mapToObj(place).toList());
    }

    /**
     * Loads the model of {@code config} from a version's folder.
     *
     * @param runs how many runs may be under way at a time
     * @throws GatunException INVALID_ARGUMENT or UNSUPPORTED with what is wrong with its file
     */
    static LoadedPackage open(ModelConfig config, Path versionDirectory, MadeFor here, int runs) {
        String name = config.getDefaultModelFilename().isEmpty() ? STANDARD_NAME : config.getDefaultModelFilename();
        Path file = versionDirectory.resolve(name);
        String model = config.getName();
        if (!Files.isRegularFile(file)) {
            throw GatunException.invalidArgument("model '" + model + "' has no file " + name + " in its version "
                    + versionDirectory.getFileName() + "; make it by torch._inductor.aoti_compile_and_package, or name"
                    + " it by default_model_filename");
        }
        try (ModelPackage opened = ModelPackage.open(file, model)) {
            String what = "model '" + model + "': " + opened.what();
            here.check(opened.metadata(), what);
            Optional<String> source = opened.source();
            Container container = Container.open(opened.library(here), runs, what);
            try {
                Weights weights = Weights.give(container, opened, source, file, what);
                try {
                    return new LoadedPackage(container, weights, source.flatMap(SourceText::read), opened);
                } catch (RuntimeException | Error e) {
                    weights.close();
                    throw e;
                }
            } catch (RuntimeException | Error e) {
                container.close();
                throw e;
            }
        }
    }

    Container container() {
        return container;
    }

    /** What the inputs must be, in their order; empty when the package does not say it. */
    Optional<List<InputForm>> forms() {
        return forms;
    }

    /** What the call names the inputs, in their order. */
    List<String> inputNames() {
        return inputNames;
    }

    /** What the result names the outputs, in their order. */
    List<String> outputNames() {
        return outputNames;
    }

    /** The package, for messages. */
    String what() {
        return what;
    }

    /** Whether an index out of range in a request may end the process, as far as the package tells. */
    boolean throwsInThreads() {
        return throwsInThreads;
    }

    @Override
    public void close() {
        container.close();
        weights.close();
    }
}
