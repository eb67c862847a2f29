// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Finds out which backend runs a model: from its configuration, or else from the files in its version directory. */
final class BackendChoice {
    /**
     * A kind of model file.
     *
     * @param platform its name in the configuration's platform field; empty where there is no such name
     */
    private record Kind(String fileName, String backend, String platform) {
        boolean named(ModelConfig config) {
            return (!platform.isEmpty() && platform.equals(config.getPlatform()))
                    || backend.equals(config.getBackend());
        }
    }

    private static final String LITE = "model.tflite";
    /** Triton's name for what runs decision trees. */
    private static final String FOREST = "fil";

    /** Triton's name for what runs all of PyTorch's models, and for the platform of those that are compiled. */
    private static final String TORCH = "pytorch";

    private static final String COMPILED = "torch_aoti";

    private static final String SAVED_MODEL = "tensorflow_savedmodel";

    /** The values of {@code runtime} that mean nothing else than the backend. */
    private static final Pattern RUNTIMES = Pattern.compile("libtriton_[A-Za-z0-9_]+\\.so|model\\.py");

    /** In the order of precedence when a directory holds several. */
    private static final List<Kind> KINDS = List.of(
            new Kind("model.savedmodel", "tensorflow", SAVED_MODEL),
            // How TensorFlow Serving wants it: the version directory is the model.
            new Kind("saved_model.pb", "tensorflow", SAVED_MODEL),
            new Kind("model.graphdef", "tensorflow", "tensorflow_graphdef"),
            new Kind("model.plan", "tensorrt", "tensorrt_plan"),
            new Kind("model.onnx", "onnxruntime", "onnxruntime_onnx"),
            new Kind("model.xml", "openvino", ""),
            new Kind("model.pt", TORCH, "pytorch_libtorch"),
            new Kind("model.pt2", TORCH, COMPILED),
            new Kind("model.py", "python", ""),
            new Kind("xgboost.json", FOREST, ""),
            new Kind("xgboost.ubj", FOREST, ""),
            new Kind("xgboost.model", FOREST, ""),
            new Kind("model.txt", FOREST, ""),
            new Kind("checkpoint.tl", FOREST, ""));

    private static final String NO_FILE = "put the model's file, such as model.onnx, into each version's folder, or"
            + " write backend: \"...\" in config.pbtxt";

    private BackendChoice() {}

    /**
     * Fills in backend, platform and model file name where they can be told.
     *
     * @param versionDirectory the directory whose files decide when the configuration does not; empty to leave files
     *     alone
     * @throws ConfigurationException when no backend can be told or platform and backend contradict each other
     */
    static ModelConfig complete(ModelConfig config, Optional<Path> versionDirectory) {
        ModelConfig.Builder completed = config.toBuilder();
        if (config.getPlatform().equals("libtorch")) {
            completed.setPlatform("pytorch_libtorch");
        }
        boolean named = !config.getPlatform().isEmpty() || !config.getBackend().isEmpty();
        if (versionDirectory.isPresent() && (!named || config.getBackend().equals("tensorflow"))) {
            refuseLite(config, versionDirectory.get());
        }
        Optional<Kind> kind = named ? namedKind(completed.build(), versionDirectory) : Optional.empty();
        if (!named && versionDirectory.isPresent()) {
            kind = kindOfFile(config, versionDirectory.get());
            if (kind.isEmpty()) {
                completed.setBackend(backendInName(config.getName())
                        .orElseThrow(() ->
                                untold(config.getName(), ModelFiles.otherName(versionDirectory.get(), ""), NO_FILE)));
            }
        }
        if (named && kind.isEmpty() && completed.getBackend().isEmpty() && versionDirectory.isPresent()) {
            // A platform that nobody knows contradicts what the file says.
            kindOfFile(config, versionDirectory.get()).ifPresent(found -> completed.setBackend(found.backend));
        }
        // Of a forest that names its backend, a parameter tells the file.
        kind.filter(found -> !named || !found.backend.equals(FOREST)).ifPresent(found -> fill(completed, found));
        if (kind.isEmpty() && completed.getDefaultModelFilename().isEmpty() && versionDirectory.isPresent()) {
            completed.setDefaultModelFilename("model." + completed.getBackend());
        }
        check(completed.build());
        return completed.build();
    }

    /** There is no library of TensorFlow Lite's interpreter for servers to be had. */
    private static void refuseLite(ModelConfig config, Path versionDirectory) {
        if (Files.exists(versionDirectory.resolve(LITE))
                && KINDS.stream().noneMatch(kind -> Files.exists(versionDirectory.resolve(kind.fileName)))) {
            throw new ConfigurationException(
                    ConfigurationPath.MODEL,
                    "model '" + config.getName() + "' is a TensorFlow Lite model (" + LITE
                            + "), and no engine here runs those",
                    "serve the SavedModel that it was made of, or make an ONNX model of it:"
                            + " python -m tf2onnx.convert --tflite " + LITE + " --output model.onnx");
        }
    }

    /** Whether the model is a SavedModel: whose clients send scalars, also where it has no batch dimension. */
    static boolean isSavedModel(ModelConfig config) {
        return config.getPlatform().equals(SAVED_MODEL);
    }

    /** Whether a file or folder of this name in a version's folder tells the backend. */
    static boolean tellsBackend(String fileName) {
        return LITE.equals(fileName) || KINDS.stream().anyMatch(kind -> kind.fileName.equals(fileName));
    }

    /**
     * The engine of a configuration whose backend and platform are complete, by its own name: what runs PyTorch's
     * compiled models is another than what runs TorchScript, under one name in configurations.
     */
    static String engine(ModelConfig config) {
        return config.getBackend().equals(TORCH) && config.getPlatform().equals(COMPILED)
                ? COMPILED
                : config.getBackend();
    }

    private static Optional<Kind> namedKind(ModelConfig config, Optional<Path> versionDirectory) {
        if (config.getBackend().equals(TORCH) && config.getPlatform().isEmpty() && versionDirectory.isPresent()) {
            Optional<Kind> found = kindOfFile(config, versionDirectory.get());
            if (found.isPresent() && found.get().backend.equals(TORCH)) {
                return found;
            }
        }
        return KINDS.stream()
                .filter(kind -> kind.named(config)
                        && (!kind.backend.equals(TORCH)
                                || config.getPlatform().isEmpty()
                                || kind.platform.equals(config.getPlatform())))
                .findFirst();
    }

    private static Optional<Kind> kindOfFile(ModelConfig config, Path versionDirectory) {
        if (!config.getDefaultModelFilename().isEmpty()) {
            String extension = extension(config.getDefaultModelFilename());
            return KINDS.stream()
                    .filter(kind -> extension(kind.fileName).equals(extension))
                    .findFirst();
        }
        return KINDS.stream()
                .filter(kind -> Files.exists(versionDirectory.resolve(kind.fileName)))
                .findFirst();
    }

    private static String extension(String fileName) {
        return fileName.substring(fileName.lastIndexOf('.') + 1);
    }

    /** What is wrong with a model without files whose configuration and name tell no backend; nothing if they do. */
    static Optional<ConfigurationException> untold(ModelConfig config, String advice) {
        boolean told = !config.getPlatform().isEmpty()
                || !config.getBackend().isEmpty()
                || backendInName(config.getName()).isPresent();
        return told ? Optional.empty() : Optional.of(untold(config.getName(), "", advice));
    }

    private static ConfigurationException untold(String modelName, String found, String advice) {
        return new ConfigurationException(
                ConfigurationPath.MODEL,
                "Invalid model name: Could not determine backend for model '" + modelName
                        + "' with no backend in model configuration. Expected model name of the form"
                        + " 'model.<backend_name>'." + found,
                advice);
    }

    private static Optional<String> backendInName(String modelName) {
        int dot = modelName.lastIndexOf('.');
        return dot < 0 || dot == modelName.length() - 1 ? Optional.empty() : Optional.of(modelName.substring(dot + 1));
    }

    private static void fill(ModelConfig.Builder config, Kind kind) {
        if (config.getBackend().isEmpty()) {
            config.setBackend(kind.backend);
        }
        if (config.getPlatform().isEmpty()) {
            config.setPlatform(kind.platform);
        }
        if (config.getDefaultModelFilename().isEmpty()) {
            config.setDefaultModelFilename(kind.fileName);
        }
    }

    private static void check(ModelConfig config) {
        String platform = config.getPlatform();
        String backend = config.getBackend();
        if (platform.isEmpty() && backend.isEmpty()) {
            throw new ConfigurationException(
                    ConfigurationPath.of("platform"),
                    "must specify 'platform' or 'backend' for '" + config.getName() + "'",
                    "write backend: \"onnxruntime\", \"tensorflow\" or the name of another backend");
        }
        if (backend.isEmpty()) {
            throw new ConfigurationException(
                    ConfigurationPath.of("platform"),
                    "unexpected platform type '" + platform + "' for " + config.getName(),
                    "write platform: \"onnxruntime_onnx\" or \"tensorflow_savedmodel\", or backend: \"...\"");
        }
        boolean unknown = platform.isEmpty()
                || KINDS.stream()
                        .noneMatch(kind -> !kind.platform.isEmpty()
                                && (kind.backend.equals(backend) || kind.platform.equals(platform)));
        boolean agree = KINDS.stream().anyMatch(kind -> kind.platform.equals(platform) && kind.backend.equals(backend));
        if (!unknown && !agree) {
            throw new ConfigurationException(
                    ConfigurationPath.of("platform"),
                    "unexpected 'platform' and 'backend' pair, got:" + platform + ", " + backend,
                    "leave one of the two out");
        }
        checkRuntime(config);
    }

    /** Accepts Triton's library for a backend, or a Python backend's file, without effect; others differ there. */
    private static void checkRuntime(ModelConfig config) {
        String runtime = config.getRuntime();
        if (runtime.indexOf('/') >= 0) {
            throw new ConfigurationException(
                    ConfigurationPath.of("runtime"),
                    "backend library name '" + runtime + "' escapes backend directory",
                    "leave 'runtime' out: it names a library of Triton's, and has no effect here");
        }
        if (!runtime.isEmpty() && !RUNTIMES.matcher(runtime).matches()) {
            throw new ConfigurationException(
                    ConfigurationPath.of("runtime"),
                    "unable to find backend library '" + runtime + "' for model '" + config.getName()
                            + "', check model config runtime field",
                    "leave 'runtime' out, or name Triton's library for the backend, such as libtriton_"
                            + config.getBackend() + ".so, which has no effect here");
        }
    }
}
