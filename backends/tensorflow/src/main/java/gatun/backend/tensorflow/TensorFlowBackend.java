// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.HeapTrimmer;
import gatun.bindings.LibraryCache;
import gatun.bindings.NativeLibrary;
import gatun.bindings.TensorFlow;
import gatun.bindings.tensorflow.TF_Output;
import gatun.bindings.tensorflow.tensorflow_h;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.EntryPoint;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.spi.ModelFormat;
import gatun.spi.ModelFormat.Trait;
import gatun.spi.Setting;
import gatun.spi.model.ConfigurationCompletion;
import gatun.spi.model.OperatorLibraries;
import gatun.wire.inference.ModelConfig;
import gatun.wire.tensorflow.SignatureDef;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs SavedModels in the layouts of Triton ({@code 1/model.savedmodel/saved_model.pb}) and TensorFlow Serving ({@code
 * 1/saved_model.pb}); each signature is an entry point. The library is not part of the server: {@code ./gatun install
 * tensorflow} downloads it, or the option {@code library} names one.
 */
public final class TensorFlowBackend implements Backend {
    static final String NAME = "tensorflow";
    private static final String PLATFORM = "tensorflow_savedmodel";
    static final String LIBRARY = "library";
    private static final String OP_LIBRARY = "op-library";

    private static final Logger LOG = LoggerFactory.getLogger(TensorFlowBackend.class);

    private Settings settings = Settings.DEFAULT;

    /** Found by {@link java.util.ServiceLoader}; touches nothing native yet. */
    public TensorFlowBackend() {}

    static String library(String path) {
        return Setting.backendOption(NAME, LIBRARY, path);
    }

    static String opLibrary(String path) {
        return Setting.backendOption(NAME, OP_LIBRARY, path);
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<ModelFormat> formats() {
        return List.of(
                ModelFormat.of("model.savedmodel", NAME, 0, Trait.KNOWN_BY_ENDING, Trait.FOLDER, Trait.SCALARS)
                        .platform(PLATFORM),
                ModelFormat.of("saved_model.pb", NAME, 10, Trait.KNOWN_BY_ENDING, Trait.FOLDER_OF_FILE, Trait.SCALARS)
                        .platform(PLATFORM));
    }

    @Override
    public int instancesOnCpu() {
        return 2;
    }

    @Override
    public List<Option> options() {
        return List.of(
                new Option(LIBRARY, "Another file of TensorFlow than the one that was installed."),
                new Option(OP_LIBRARY, "Libraries with operations that models need, separated by colons."),
                new Option(Settings.INTRA_OP, "How many threads one operation may use."),
                new Option(Settings.INTER_OP, "How many operations may run at a time."),
                new Option(
                        Settings.MAX_BATCH_SIZE,
                        "The largest batch of a model that can batch and does not say it.",
                        true),
                new Option(Settings.TAGS, "Which graph of a SavedModel to serve: the one that has exactly these tags."),
                new Option(Settings.SESSION_FILE, "A ConfigProto in protobuf's text format, for sessions."));
    }

    @Override
    public List<String> libraries() {
        return List.of(NAME);
    }

    @Override
    public Optional<String> libraryVersion() {
        Optional<Path> installed = TensorFlow.installed(LibraryCache.ofUser());
        if (installed.isEmpty()) {
            return Optional.of("not installed; './gatun install tensorflow' does it");
        }
        NativeLibrary library = TensorFlow.open(installed.get());
        return Optional.of(library instanceof NativeLibrary.Missing missing ? missing.reason() : TensorFlow.version());
    }

    @Override
    public void start(Map<String, String> options) {
        options.forEach((key, value) -> {
            settings = settings.with(key, value);
            if (!key.equals(LIBRARY) && !key.equals(OP_LIBRARY) && !Settings.OPTIONS.contains(key)) {
                LOG.warn(
                        "{} has no effect here; known: {}, {}, {}",
                        Setting.backendOption(NAME, key, value),
                        LIBRARY,
                        OP_LIBRARY,
                        Settings.OPTIONS);
            }
        });
        NativeLibrary library =
                TensorFlow.open(InstalledLibrary.path(options.getOrDefault(LIBRARY, ""), LibraryCache.ofUser()));
        switch (library) {
            case NativeLibrary.Available available ->
                LOG.info("TensorFlow {} from {}", TensorFlow.version(), available.path());
            case NativeLibrary.Missing missing -> throw new GatunException(ErrorCode.UNAVAILABLE, missing.toString());
        }
        OpLibraries.load(options.getOrDefault(OP_LIBRARY, ""));
    }

    @Override
    public Set<String> configurationFields() {
        return Set.of("ModelConfig.model_operations");
    }

    @Override
    public ModelConfig complete(ModelConfig config, Path versionDirectory) {
        if (!ConfigurationCompletion.isNeeded(config)) {
            return config;
        }
        Path directory = directory(config, versionDirectory);
        SavedModelFile file = SavedModelFile.read(directory, settings.tags(config), config.getName());
        EntryPoint described =
                Signature.of(file, Settings.signature(config), config.getName()).getFirst();
        // TensorFlow Serving's layout is used as TensorFlow Serving does: requests of any size, and each alone.
        int maxBatchSize = directory.equals(versionDirectory) ? 0 : settings.defaultMaxBatchSize();
        return new ConfigurationCompletion(config, described.inputs(), described.outputs(), maxBatchSize, true)
                .complete();
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        Path directory = directory(config, versionDirectory);
        SavedModelFile file = SavedModelFile.read(directory, settings.tags(config), config.getName());
        file.requireVariables(directory, config.getName());
        List<EntryPoint> entryPoints = Signature.of(file, Settings.signature(config), config.getName());
        ConfigCheck.run(config, entryPoints.getFirst());
        OpLibraries.load(OperatorLibraries.of(config, versionDirectory));
        Session session = Session.open(directory, settings.tags(config), settings.session(config), config.getName());
        try {
            return new TensorFlowModel(session, entryPoints, file);
        } catch (RuntimeException | Error e) {
            session.close();
            throw e;
        }
    }

    @Override
    public long liveValueCount() {
        return LiveTensors.count();
    }

    private static Path directory(ModelConfig config, Path versionDirectory) {
        String name =
                config.getDefaultModelFilename().isEmpty() ? "model.savedmodel" : config.getDefaultModelFilename();
        Path own = versionDirectory.resolve(name);
        if (Files.isRegularFile(SavedModelFile.in(own))) {
            return own;
        }
        if (Files.isRegularFile(SavedModelFile.in(versionDirectory))) {
            return versionDirectory;
        }
        throw new GatunException(
                ErrorCode.NOT_FOUND,
                "version " + versionDirectory.getFileName() + " of model '" + config.getName() + "' has neither " + name
                        + "/saved_model.pb nor saved_model.pb");
    }

    /** A loaded SavedModel. Owns its session, which all instances run, with the weights and the state once. */
    static final class TensorFlowModel implements BackendModel {
        private final Session session;
        private final List<EntryPoint> entryPoints;
        private final Map<String, SignatureDef> signatures;
        private final Map<String, Function> functions = new HashMap<>();

        /** Where the functions have their arguments; read by all instances. */
        private final Arena arena = Arena.ofShared();

        /** Throws INVALID_ARGUMENT when a signature does not fit the graph; the session stays open then. */
        TensorFlowModel(Session session, List<EntryPoint> entryPoints, SavedModelFile file) {
            this.session = session;
            this.entryPoints = entryPoints;
            signatures = Map.copyOf(file.signatures());
            try {
                for (EntryPoint entryPoint : entryPoints) {
                    functions.put(
                            entryPoint.name(),
                            new Function(
                                    session, entryPoint, file.defaults(entryPoint.name()), file.operations(), arena));
                }
            } catch (RuntimeException | Error e) {
                functions.values().forEach(Function::close);
                arena.close();
                throw e;
            }
        }

        @Override
        public List<EntryPoint> entryPoints() {
            return entryPoints;
        }

        @Override
        public Map<String, SignatureDef> signatures() {
            return signatures;
        }

        @Override
        public BackendInstance newInstance(InstanceSpec spec) {
            return new TensorFlowInstance(session, functions);
        }

        @Override
        public void close() {
            functions.values().forEach(Function::close);
            session.close();
            arena.close();
            HeapTrimmer.OF_PROCESS.ask();
        }
    }

    /**
     * Runs a session with arguments of its own. Reads inputs in place unless the model may keep them; copies outputs
     * once. A run ends when nobody waits any more; the C API has no other way to stop it.
     */
    static final class TensorFlowInstance implements BackendInstance {
        private final Session session;
        private final Map<String, Function> functions;

        /** Shared, since short runs come on the requests' threads. */
        private final Arena arena = Arena.ofShared();

        private final Status status = new Status();

        // The arguments of the run under way.
        private final MemorySegment dims = Tensors.dims(arena);
        private final MemorySegment inputPlaces;
        private final MemorySegment inputArray;
        private final MemorySegment outputPlaces;
        private final MemorySegment outputArray;
        private final MemorySegment[] inputs;
        private final RunOptions options = new RunOptions(arena);

        TensorFlowInstance(Session session, Map<String, Function> functions) {
            this.session = session;
            this.functions = functions;
            int inputCount = functions.values().stream()
                    .mapToInt(Function::inputCount)
                    .max()
                    .orElse(0);
            int outputCount = functions.values().stream()
                    .mapToInt(Function::outputCount)
                    .max()
                    .orElse(0);
            inputPlaces = TF_Output.allocateArray(Math.max(1, inputCount), arena);
            inputArray = arena.allocate(ValueLayout.ADDRESS, Math.max(1, inputCount));
            outputPlaces = TF_Output.allocateArray(Math.max(1, outputCount), arena);
            outputArray = arena.allocate(ValueLayout.ADDRESS, Math.max(1, outputCount));
            inputs = new MemorySegment[inputCount];
            Arrays.fill(inputs, MemorySegment.NULL);
        }

        @Override
        public boolean isBoundToThread() {
            return false;
        }

        @Override
        public void execute(Execution execution) {
            Function function = functions.get(execution.entryPoint());
            if (function == null) {
                throw new GatunException(
                        ErrorCode.INTERNAL, "no function of the model is called '" + execution.entryPoint() + "'");
            }
            int inputCount = execution.inputCount();
            int outputCount = execution.outputCount();
            outputArray.fill((byte) 0);
            try {
                for (int i = 0; i < inputCount; i++) {
                    Tensor tensor = execution.input(i);
                    function.feed(tensor.spec().name(), i, inputPlaces);
                    bind(i, tensor, function.keepsInputs());
                }
                for (int i = 0; i < outputCount; i++) {
                    function.fetch(execution.outputName(i), i, outputPlaces);
                }
                int fedCount = function.inputCount() == inputCount
                        ? inputCount
                        : function.feedDefaults(execution, inputCount, inputPlaces, inputArray);
                execution.inferStarted();
                tensorflow_h.TF_SessionRun(
                        session.handle(),
                        options.timeout(execution.timeLeftNanos()),
                        inputPlaces,
                        inputArray,
                        fedCount,
                        outputPlaces,
                        outputArray,
                        outputCount,
                        MemorySegment.NULL,
                        0,
                        MemorySegment.NULL,
                        status.handle());
                countOutputs(outputCount);
                execution.inferEnded();
                status.check("");
                for (int i = 0; i < outputCount; i++) {
                    place(i, outputArray.getAtIndex(ValueLayout.ADDRESS, i), execution);
                }
            } finally {
                release(inputCount, outputCount);
            }
        }

        private void bind(int index, Tensor tensor, boolean kept) {
            if (tensor.spec().datatype() == Datatype.BYTES) {
                inputs[index] = StringTensors.of(tensor, dims);
            } else {
                inputs[index] = kept ? Tensors.copied(tensor, dims) : Tensors.around(tensor, dims);
            }
            inputArray.setAtIndex(ValueLayout.ADDRESS, index, inputs[index]);
        }

        private void countOutputs(int count) {
            for (int i = 0; i < count; i++) {
                if (outputArray.getAtIndex(ValueLayout.ADDRESS, i).address() != 0) {
                    LiveTensors.made();
                }
            }
        }

        private static void place(int index, MemorySegment tensor, Execution execution) {
            Shape shape = Tensors.shape(tensor);
            Datatype datatype = Tensors.datatype(tensor);
            if (datatype == Datatype.INVALID) {
                throw new GatunException(
                        ErrorCode.UNSUPPORTED,
                        "output '" + execution.outputName(index) + "' has elements of TensorFlow's type "
                                + Tensors.elementType(tensor) + ", which no protocol can carry");
            }
            if (datatype == Datatype.BYTES) {
                StringTensors.write(tensor, shape, execution, index);
                return;
            }
            long byteSize = shape.byteSize(datatype);
            MemorySegment target = execution.output(index, datatype, shape, byteSize);
            MemorySegment.copy(Tensors.data(tensor, byteSize), 0, target, 0, byteSize);
        }

        private void release(int inputCount, int outputCount) {
            for (int i = 0; i < outputCount; i++) {
                MemorySegment output = outputArray.getAtIndex(ValueLayout.ADDRESS, i);
                if (output.address() != 0) {
                    Tensors.delete(output);
                }
            }
            for (int i = 0; i < inputCount; i++) {
                if (inputs[i].address() != 0) {
                    Tensors.delete(inputs[i]);
                    inputs[i] = MemorySegment.NULL;
                }
            }
        }

        @Override
        public void close() {
            status.close();
            arena.close();
        }
    }
}
