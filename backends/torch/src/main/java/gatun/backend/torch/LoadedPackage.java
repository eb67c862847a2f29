// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.bindings.torch.AOTInductorConstantMapEntry;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.wire.inference.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Owns a model loaded from its package, with its weights. Thread-safe; closed once, after the last run. */
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

    /** Loads a model for {@code runs} runs at a time. Throws INVALID_ARGUMENT or UNSUPPORTED if its file is wrong. */
    static LoadedPackage open(ModelConfig config, Path versionDirectory, TargetIsa here, int runs) {
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

    List<String> inputNames() {
        return inputNames;
    }

    List<String> outputNames() {
        return outputNames;
    }

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

    /** Owns weights outside of the library: in the package, or in safetensors beside it. Closed after the model. */
    static final class Weights implements AutoCloseable {
        private static final String FILE_END = ".safetensors";

        /** The library counts the bytes of a constant with what is between it and the next. */
        private static final long ALIGNMENT = 64;

        private final Arena arena = Arena.ofShared();
        private final AtenTensors aten = new AtenTensors(arena);
        private final List<MemorySegment> tensors = new ArrayList<>();
        private final Container container;
        private final String what;

        private Weights(Container container, String what) {
            this.container = container;
            this.what = what;
        }

        /** Gives {@code container} its weights unless its library has them. Throws INVALID_ARGUMENT if none fit. */
        static Weights give(Container container, ModelPackage model, Optional<String> source, Path file, String what) {
            Weights weights = new Weights(container, what);
            try {
                Optional<MemorySegment> apart = model.weights(weights.arena);
                Path beside = beside(file);
                if (apart.isPresent()) {
                    weights.give(apart.get());
                } else if (Files.isRegularFile(beside)) {
                    weights.give(SafeTensors.map(beside, weights.arena), source.map(ConstantForm::read));
                } else if (source.filter(ConstantForm::areMissing).isPresent()) {
                    throw GatunException.invalidArgument(what + " was made without its weights"
                            + " (aot_inductor.package_constants_in_so=False); put them beside it as "
                            + beside.getFileName()
                            + ", by safetensors.torch.save_file(module.state_dict(), ...)");
                }
                return weights;
            } catch (RuntimeException | Error e) {
                weights.close();
                throw e;
            }
        }

        private static Path beside(Path file) {
            String name = file.getFileName().toString();
            int dot = name.lastIndexOf('.');
            return file.resolveSibling((dot < 0 ? name : name.substring(0, dot)) + FILE_END);
        }

        private void give(MemorySegment bytes) {
            long expected = container.constantsByteSize();
            if (bytes.byteSize() < expected) {
                throw GatunException.invalidArgument(what + " has " + bytes.byteSize()
                        + " bytes of weights, its library expects " + expected + "; it may be damaged");
            }
            container.useConstants(bytes);
        }

        private void give(SafeTensors file, Optional<List<ConstantForm>> forms) {
            List<Container.Constant> constants = container.constants();
            MemorySegment pairs = AOTInductorConstantMapEntry.allocateArray(Math.max(1, constants.size()), arena);
            for (int i = 0; i < constants.size(); i++) {
                Container.Constant constant = constants.get(i);
                SafeTensors.Entry entry = file.find(constant.originalName());
                check(constant, entry);
                if (forms.isPresent() && i < forms.get().size()) {
                    forms.get().get(i).check(entry, what);
                }
                MemorySegment tensor = aten.around(entry.bytes(), entry.datatype(), entry.shape());
                tensors.add(tensor);
                MemorySegment pair = AOTInductorConstantMapEntry.asSlice(pairs, i);
                AOTInductorConstantMapEntry.name(pair, arena.allocateFrom(constant.name()));
                AOTInductorConstantMapEntry.handle(pair, tensor);
            }
            aten.live().tell();
            container.useConstants(pairs, constants.size());
        }

        private void check(Container.Constant constant, SafeTensors.Entry entry) {
            long own = entry.bytes().byteSize();
            boolean fits =
                    constant.byteSize() == own || constant.byteSize() == Math.ceilDiv(own, ALIGNMENT) * ALIGNMENT;
            if (!fits || constant.datatype() != entry.datatype()) {
                throw GatunException.invalidArgument(what + " has a weight '" + constant.originalName() + "' of "
                        + constant.byteSize() + " bytes of " + constant.datatype() + ", the file beside it one of "
                        + own
                        + " bytes of " + entry.datatype() + ": they are of different models");
            }
        }

        @Override
        public void close() {
            tensors.forEach(aten::delete);
            aten.live().tell();
            arena.close();
        }

        /** What a weight must be, by the C++ of its library; strides in elements. Immutable. */
        record ConstantForm(String name, Shape shape, List<Long> strides) {
            private static final Pattern FACT = Pattern.compile(
                    "constants_info_\\[(\\d{1,9})\\]\\.(shape|stride|original_fqn) = (?:\\{([^{}]*)\\}|\"([^\"]*)\");");

            /** The last argument of the model's base says whether the library has the weights. */
            private static final Pattern WITHOUT_WEIGHTS = Pattern.compile(
                    "AOTInductorModelBase\\(\\s*\\d+,\\s*\\d+,\\s*[1-9]\\d*,[^;{}()]*std::move\\(cubin_dir\\),\\s*false\\)");

            /** All that {@code source} tells of, in their order. */
            static List<ConstantForm> read(String source) {
                Map<Integer, Map<String, String>> facts = new TreeMap<>();
                FACT.matcher(source).results().forEach(found -> facts.computeIfAbsent(
                                Integer.valueOf(found.group(1)), key -> new TreeMap<>())
                        .put(found.group(2), found.group(3) != null ? found.group(3) : found.group(4)));
                return facts.values().stream()
                        .map(fact -> new ConstantForm(
                                fact.getOrDefault("original_fqn", ""),
                                Shape.of(numbers(fact.getOrDefault("shape", ""))),
                                Arrays.stream(numbers(fact.getOrDefault("stride", "")))
                                        .boxed()
                                        .toList()))
                        .toList();
            }

            /** Whether {@code source} has weights that it says are not in the library. */
            static boolean areMissing(String source) {
                return WITHOUT_WEIGHTS.matcher(source).find();
            }

            private static long[] numbers(String list) {
                return Arrays.stream(list.split(",", -1))
                        .map(String::strip)
                        .filter(number -> number.matches("\\d{1,18}L?"))
                        .mapToLong(number -> Long.parseLong(number.replace("L", "")))
                        .toArray();
            }

            /** @throws GatunException INVALID_ARGUMENT when {@code entry} is another weight */
            void check(SafeTensors.Entry entry, String what) {
                long stride = 1;
                for (int i = strides.size() - 1; i >= 0; i--) {
                    if (shape.dim(i) != 1 && strides.get(i) != stride) {
                        throw GatunException.invalidArgument(
                                what + " keeps its weight '" + name + "' in another order in memory"
                                        + " than a file of safetensors; make the package with its weights in it");
                    }
                    stride *= Math.max(1, shape.dim(i));
                }
                if (!shape.equals(entry.shape())) {
                    throw GatunException.invalidArgument(what + " has a weight '" + name + "' of shape " + shape
                            + ", the file beside it one of shape " + entry.shape() + ": they are of different models");
                }
            }
        }
    }
}
