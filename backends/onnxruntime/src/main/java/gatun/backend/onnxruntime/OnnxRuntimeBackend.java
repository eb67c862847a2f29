// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.bindings.LibraryCache;
import gatun.bindings.NativeException;
import gatun.bindings.NativeLibrary;
import gatun.bindings.OnnxRuntime;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.ModelFormat;
import gatun.spi.ModelFormat.Trait;
import gatun.spi.Setting;
import gatun.spi.model.ConfigurationCompletion;
import gatun.spi.model.OperatorLibraries;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs ONNX models. The library is the one in the official Maven artifact, unpacked once for each user, or the file
 * that its option {@code library} names. Options: {@link EngineOptions#NAMES}.
 */
public final class OnnxRuntimeBackend implements Backend {
    private static final Logger LOG = LoggerFactory.getLogger(OnnxRuntimeBackend.class);
    private static final String FILE = "libonnxruntime.so";

    /** The libraries of which the log has told: a process may have several servers. */
    private static final Set<Path> TOLD = ConcurrentHashMap.newKeySet();

    private Optional<Engine> engine = Optional.empty();
    private int defaultMaxBatchSize;

    /** Found by {@link java.util.ServiceLoader}; touches nothing native yet. */
    public OnnxRuntimeBackend() {}

    @Override
    public String name() {
        return EngineOptions.BACKEND;
    }

    @Override
    public List<ModelFormat> formats() {
        return List.of(
                ModelFormat.of("model.onnx", EngineOptions.BACKEND, 40, Trait.KNOWN_BY_ENDING, Trait.ALONE_BY_ENDING)
                        .platform("onnxruntime_onnx"));
    }

    @Override
    public int instancesOnCpu() {
        return 2;
    }

    @Override
    public List<Option> options() {
        return EngineOptions.OPTIONS;
    }

    @Override
    public void prepare() {
        OnnxRuntime.prepare();
    }

    @Override
    public Map<Datatype, URL> warmUpModels() {
        return Map.of(Datatype.INT32, resource("simple"), Datatype.BYTES, resource("simple_string"));
    }

    private static URL resource(String example) {
        String name = "models/" + example + "/1/model.onnx";
        return Objects.requireNonNull(OnnxRuntimeBackend.class.getResource(name), name);
    }

    @Override
    public Map<Path, Path> companions(Path model, String copy) throws IOException {
        return ExternalWeights.of(model).stream().collect(Collectors.toMap(path -> path, path -> path));
    }

    /** A graph is data, and the engine reads tensors that lie outside of it from the version's folder alone. */
    @Override
    public boolean takesUploads() {
        return true;
    }

    @Override
    public Set<String> requestParameters() {
        return OnnxParameters.REQUESTED;
    }

    @Override
    public Set<String> configurationFields() {
        return Set.of(
                "ModelOptimizationPolicy.graph",
                "ModelOptimizationPolicy.execution_accelerators",
                "ModelConfig.model_operations");
    }

    @Override
    public void start(Map<String, String> options) {
        options.forEach((name, value) -> {
            if (!EngineOptions.NAMES.contains(name)) {
                LOG.warn(
                        "{} has no effect here; known: {}",
                        Setting.backendOption(EngineOptions.BACKEND, name, value),
                        EngineOptions.NAMES);
            }
        });
        EngineOptions chosen = EngineOptions.of(options);
        defaultMaxBatchSize = chosen.defaultMaxBatchSize();
        NativeLibrary library = OnnxRuntime.open(
                chosen.library().map(OnnxRuntimeBackend::existing).orElseGet(OnnxRuntimeBackend::packaged));
        switch (library) {
            case NativeLibrary.Available available -> {
                try {
                    Engine opened = new Engine(OnnxRuntime.of(available), chosen);
                    if (TOLD.add(available.path())) {
                        LOG.info("ONNX Runtime {} from {}", opened.version(), available.path());
                    }
                    engine = Optional.of(opened);
                } catch (NativeException e) {
                    throw new GatunException(ErrorCode.UNAVAILABLE, "ONNX Runtime not available: " + e.getMessage(), e);
                }
            }
            case NativeLibrary.Missing missing -> throw new GatunException(ErrorCode.UNAVAILABLE, missing.toString());
        }
    }

    @Override
    public boolean runsOn(Device.Kind kind) {
        return kind == Device.Kind.CPU || CudaProvider.missing(started()).isEmpty();
    }

    @Override
    public String advice(Device.Kind kind) {
        return kind == Device.Kind.CPU ? "" : CudaProvider.missing(started());
    }

    private static Path existing(String chosen) {
        Path path = Path.of(chosen);
        if (!Files.isRegularFile(path)) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "ONNX Runtime not available: " + EngineOptions.library(chosen) + " names no file");
        }
        return path;
    }

    /** The library of the distribution, or that of the Maven artifact, in the user's cache. */
    private static Path packaged() {
        return LibraryCache.bundled(FILE).orElseGet(OnnxRuntimeBackend::unpacked);
    }

    private static Path unpacked() {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch", "");
        String platform =
                switch (machine) {
                    case "amd64", "x86_64" -> "linux-x64";
                    case "aarch64" -> "linux-aarch64";
                    default -> "";
                };
        URL resource = platform.isEmpty() || !system.startsWith("linux")
                ? null
                : OnnxRuntimeBackend.class
                        .getClassLoader()
                        .getResource("ai/onnxruntime/native/" + platform + "/" + FILE);
        if (resource == null) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "ONNX Runtime not available: no library for " + system + " on " + machine
                            + " comes with this server; name one with " + EngineOptions.library("PATH"));
        }
        try {
            return LibraryCache.ofUser().unpack(resource);
        } catch (UncheckedIOException e) {
            throw new GatunException(ErrorCode.UNAVAILABLE, "ONNX Runtime not available: " + e.getMessage(), e);
        }
    }

    @Override
    public ModelConfig complete(ModelConfig config, Path versionDirectory) {
        if (!ConfigurationCompletion.isNeeded(config)) {
            return config;
        }
        ModelDescription described = LoadingThread.load(() -> describe(
                file(config, versionDirectory), config.getName(), OperatorLibraries.of(config, versionDirectory)));
        return new ConfigurationCompletion(
                        config, described.entryInputs(), described.entryOutputs(), defaultMaxBatchSize, false)
                .complete();
    }

    private ModelDescription describe(Path file, String model, List<Path> operators) {
        try (SessionOptions options = SessionOptions.forDescription(started(), model, operators);
                Session session = Session.open(started(), file, options)) {
            return session.description();
        }
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        return new OnnxModel(
                started(), config, file(config, versionDirectory), OperatorLibraries.of(config, versionDirectory));
    }

    @Override
    public long liveValueCount() {
        return LiveHandles.values();
    }

    private Engine started() {
        return engine.orElseThrow(() -> new IllegalStateException("the backend is used before it is started"));
    }

    private static Path file(ModelConfig config, Path versionDirectory) {
        String name = config.getDefaultModelFilename().isEmpty() ? "model.onnx" : config.getDefaultModelFilename();
        Path file = versionDirectory.resolve(name);
        if (Files.isDirectory(file)) {
            // A model with its weights in files of their own lies in a directory of the name.
            file = file.resolve("model.onnx");
        }
        if (!Files.isRegularFile(file)) {
            throw new GatunException(
                    ErrorCode.NOT_FOUND,
                    "version " + versionDirectory.getFileName() + " of model '" + config.getName() + "' has no file "
                            + name + others(versionDirectory));
        }
        return file;
    }

    private static String others(Path versionDirectory) {
        try (Stream<Path> files = Files.list(versionDirectory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".onnx"))
                    .sorted()
                    .findFirst()
                    .map(file -> "; it has " + file + ": rename it, or write default_model_filename: \"" + file
                            + "\" in config.pbtxt")
                    .orElse("");
        } catch (IOException e) {
            return ""; // That the folder cannot be read is no other name.
        }
    }

    @Override
    public void close() {
        // The library and its environment stay until the process ends: nobody can tell when its own threads are done.
        engine.ifPresent(opened -> opened.poolThreads().close());
        engine = Optional.empty();
    }
}
