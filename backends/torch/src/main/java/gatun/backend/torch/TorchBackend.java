// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.bindings.LibraryCache;
import gatun.bindings.Torch;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.EntryTensor;
import gatun.spi.ModelFormat;
import gatun.spi.ModelFormat.Trait;
import gatun.spi.model.ConfigurationCompletion;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInstanceGroup;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs models that AOTInductor compiled ({@code backend: "pytorch"}, {@code platform: "torch_aoti"}). PyTorch's library
 * is not part of the server: {@code ./gatun install pytorch} downloads it, or the option {@code library} names one.
 */
public final class TorchBackend implements Backend {
    private static final Logger LOG = LoggerFactory.getLogger(TorchBackend.class);

    private Settings settings = Settings.DEFAULT;

    /** How many threads an operation may use in this process; 0 until a model says it. */
    private final AtomicInteger threads = new AtomicInteger();

    /** Found by {@link java.util.ServiceLoader}; touches nothing native yet. */
    public TorchBackend() {}

    @Override
    public String name() {
        return Settings.BACKEND;
    }

    /** Configurations name PyTorch, as they do for TorchScript. */
    @Override
    public List<ModelFormat> formats() {
        return List.of(ModelFormat.of("model.pt2", "pytorch", 70, Trait.KNOWN_BY_ENDING, Trait.ALONE_BY_ENDING)
                .platform(Settings.BACKEND));
    }

    @Override
    public List<Option> options() {
        return List.of(
                new Option(TorchLibrary.OPTION, "Another file or folder of PyTorch than the one that was installed."),
                new Option(Settings.BATCH_SIZE, "The largest batch of a model that can batch and does not say it."));
    }

    @Override
    public List<String> libraries() {
        return List.of("pytorch");
    }

    /** A compiled model has at most one file of weights, of its own name. */
    @Override
    public Map<Path, Path> companions(Path model, String copy) {
        Path weights = weightsOf(model.getFileName().toString());
        return Files.isRegularFile(model.resolveSibling(weights)) ? Map.of(weights, weightsOf(copy)) : Map.of();
    }

    private static Path weightsOf(String fileName) {
        return Path.of(fileName.substring(0, fileName.lastIndexOf('.')) + ".safetensors");
    }

    @Override
    public void start(Map<String, String> options) {
        settings = Settings.of(options);
        TorchLibrary.open(settings.library(), LibraryCache.ofUser());
    }

    @Override
    public ModelConfig complete(ModelConfig config, Path versionDirectory) {
        if (!ConfigurationCompletion.isNeeded(config)) {
            return config;
        }
        try (LoadedPackage loaded = LoadedPackage.open(config, versionDirectory, TargetIsa.here(), 1)) {
            List<InputForm> forms = loaded.forms().orElseThrow(() -> undescribed(config, loaded));
            boolean places = ModelTensors.usesPlaces(config);
            List<String> inputNames = names(places, loaded.inputNames(), i -> ModelTensors.place(true, i));
            List<String> outputNames = names(places, loaded.outputNames(), i -> ModelTensors.place(false, i));
            List<EntryTensor> inputs = inputs(forms, inputNames);
            Probe.Found found = outputs(config, loaded, forms, inputNames, outputNames);
            return new ConfigurationCompletion(
                            config, inputs, found.outputs(), maxBatchSize(found, forms, inputNames), false)
                    .complete();
        }
    }

    private static List<String> names(boolean places, List<String> called, IntFunction<String> place) {
        return places ? IntStream.range(0, called.size()).mapToObj(place).toList() : called;
    }

    private static List<EntryTensor> inputs(List<InputForm> forms, List<String> names) {
        List<EntryTensor> inputs = new ArrayList<>();
        for (int i = 0; i < forms.size(); i++) {
            InputForm form = forms.get(i);
            if (form.datatype() == Datatype.INVALID) {
                throw GatunException.invalidArgument(
                        "the model's input '" + names.get(i) + "' has a datatype that no protocol can carry");
            }
            inputs.add(EntryTensor.of(new TensorSpec(names.get(i), form.datatype(), form.shape())));
        }
        return inputs;
    }

    private static Probe.Found outputs(
            ModelConfig config,
            LoadedPackage loaded,
            List<InputForm> forms,
            List<String> inputNames,
            List<String> outputNames) {
        try {
            return new Probe(loaded, forms, inputNames).find(outputNames);
        } catch (GatunException e) {
            throw new ConfigurationException(
                    ConfigurationPath.of("output"),
                    "model '" + config.getName()
                            + "' does not say what its outputs are, and running it on zeros to find" + " out failed: "
                            + e.getMessage(),
                    "write inputs and outputs in config.pbtxt");
        }
    }

    private int maxBatchSize(Probe.Found found, List<InputForm> forms, List<String> names) {
        return found.batches()
                ? (int) Math.min(settings.defaultMaxBatchSize(), new ShapeRules(forms, names).largestBatch())
                : 0;
    }

    private static ConfigurationException undescribed(ModelConfig config, LoadedPackage loaded) {
        return new ConfigurationException(
                ConfigurationPath.MODEL,
                "model '" + config.getName() + "': " + loaded.what() + " does not say what its inputs are: it lacks the"
                        + " C++ that it was compiled of, or that of a version of PyTorch that writes it in other words",
                "package the model again with PyTorch 2.13, or write inputs and outputs in config.pbtxt");
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        int own = Settings.threads(config);
        setThreads(own, config.getName());
        LoadedPackage loaded =
                LoadedPackage.open(config, versionDirectory, TargetIsa.here(), Math.max(1, instances(config)));
        if (loaded.throwsInThreads()) {
            LOG.warn("Model '{}': {}", config.getName(), TorchModel.FRAGILE);
        }
        try {
            return new TorchModel(loaded, ModelTensors.of(config, loaded), threads.get());
        } catch (RuntimeException | Error e) {
            loaded.close();
            throw e;
        }
    }

    /** PyTorch has one number for all, as Triton's backend does: the first model that says it. */
    private void setThreads(int own, String model) {
        if (own == 0) {
            return;
        }
        if (threads.compareAndSet(0, own)) {
            if (!Torch.setThreads(own)) {
                LOG.warn("{} of model '{}' has no effect: PyTorch's library cannot be told", Settings.THREADS, model);
            }
        } else if (threads.get() != own) {
            LOG.warn(
                    "{} of model '{}' is {}; it stays at {} for all models of this process",
                    Settings.THREADS,
                    model,
                    own,
                    threads.get());
        }
    }

    private static int instances(ModelConfig config) {
        return config.getInstanceGroupList().stream()
                .mapToInt(ModelInstanceGroup::getCount)
                .sum();
    }

    @Override
    public long liveValueCount() {
        return LiveTensors.count();
    }

    /** Finds a model's outputs by runs on zeros of two sizes. Not thread-safe. */
    static final class Probe {
        /** The least sizes that are asked for: others may be special cases. */
        private static final long FIRST = 2;

        /** For models whose dimensions have a least size of their own. */
        private static final long MAX_BYTES = 1L << 30;

        private static final long ALIGNMENT = 64;

        private final LoadedPackage model;
        private final List<InputForm> forms;
        private final ShapeRules rules;

        private record Output(Datatype datatype, Shape shape) {}

        /** @param names what clients call the inputs */
        Probe(LoadedPackage model, List<InputForm> forms, List<String> names) {
            this.model = model;
            this.forms = forms;
            rules = new ShapeRules(forms, names);
        }

        /** The outputs, and whether the first dimension of all tensors is that of a batch. */
        record Found(List<EntryTensor> outputs, boolean batches) {}

        /** Runs the model twice. Throws {@link GatunException} when it does not run on zeros. */
        Found find(List<String> names) {
            long[] first = sizes(0);
            long[] second = sizes(1);
            List<Output> once = run(first);
            List<Output> again = run(second);
            int batch = rules.batchSymbol();
            boolean batches = batch >= 0 && first[batch] != second[batch];
            List<EntryTensor> outputs = new ArrayList<>();
            for (int i = 0; i < once.size(); i++) {
                Shape one = once.get(i).shape();
                Shape other = again.get(i).shape();
                Shape shape = common(one, other, names.get(i));
                outputs.add(
                        EntryTensor.of(new TensorSpec(names.get(i), once.get(i).datatype(), shape)));
                batches = batches && shape.rank() > 0 && one.dim(0) == first[batch] && other.dim(0) == second[batch];
            }
            return new Found(outputs, batches);
        }

        private long[] sizes(int more) {
            long[] sizes = new long[rules.symbolCount()];
            for (int i = 0; i < sizes.length; i++) {
                // Each has its own, so that what must be equal is told from what happens to be.
                sizes[i] = Math.clamp(FIRST + 2L * i + more, rules.least(i), rules.most(i));
                if (rules.least(i) > FIRST + 2L * i) {
                    sizes[i] = Math.min(rules.least(i) + more, rules.most(i));
                }
            }
            return sizes;
        }

        private static Shape common(Shape one, Shape other, String name) {
            if (one.rank() != other.rank()) {
                throw GatunException.invalidArgument(
                        "output '" + name + "' has now " + one.rank() + " dimensions, now " + other.rank());
            }
            long[] dims = one.toArray();
            for (int i = 0; i < dims.length; i++) {
                dims[i] = dims[i] == other.dim(i) ? dims[i] : Shape.VARIABLE;
            }
            return Shape.of(dims);
        }

        private List<Output> run(long[] sizes) {
            int inputCount = forms.size();
            int outputCount = model.outputNames().size();
            try (Arena arena = Arena.ofShared()) {
                AtenTensors tensors = new AtenTensors(arena);
                MemorySegment inputs = arena.allocate(ValueLayout.ADDRESS, Math.max(1, inputCount));
                MemorySegment outputs = arena.allocate(ValueLayout.ADDRESS, Math.max(1, outputCount));
                List<Shape> shapes = new ArrayList<>();
                long bytes = 0;
                for (int i = 0; i < inputCount; i++) {
                    Shape shape = rules.shape(i, sizes);
                    shapes.add(shape);
                    long byteSize = shape.byteSize(forms.get(i).datatype());
                    bytes = byteSize < 0 ? byteSize : Math.addExact(bytes, byteSize);
                    if (bytes < 0 || bytes > MAX_BYTES) {
                        throw GatunException.invalidArgument(
                                "its inputs are too large to try it: input " + i + " has shape " + shape);
                    }
                }
                for (int i = 0; i < inputCount; i++) {
                    Datatype datatype = forms.get(i).datatype();
                    MemorySegment zeros =
                            arena.allocate(Math.max(1, shapes.get(i).byteSize(datatype)), ALIGNMENT);
                    inputs.setAtIndex(ValueLayout.ADDRESS, i, tensors.around(zeros, datatype, shapes.get(i)));
                }
                return run(tensors, inputs, outputs);
            }
        }

        private List<Output> run(AtenTensors tensors, MemorySegment inputs, MemorySegment outputs) {
            int outputCount = model.outputNames().size();
            List<Output> found = new ArrayList<>();
            try (Run run = new Run(tensors, inputs, forms.size(), outputs, outputCount)) {
                run.start(model.container());
                for (int i = 0; i < outputCount; i++) {
                    MemorySegment output = outputs.getAtIndex(ValueLayout.ADDRESS, i);
                    found.add(new Output(tensors.datatype(output), tensors.shape(output)));
                }
            }
            return found;
        }
    }
}
