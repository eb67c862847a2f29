package gatun.server;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What to serve and how to load it.
 *
 * @param repositories the folders that hold one folder per model; at least one
 * @param controlMode which models are loaded at start
 * @param loadModels the models to load at start where that is explicit; {@code *} stands for all
 * @param exitOnError whether one model that cannot be loaded keeps the server from starting
 * @param strictReadiness whether the server is ready only when all models are
 * @param autoComplete whether a configuration is completed from the model's file
 * @param loadThreads how many models are loaded at a time
 * @param backendOptions the options of each backend: backend, then option, then value
 */
public record ModelSettings(
        List<Path> repositories,
        ControlMode controlMode,
        List<String> loadModels,
        boolean exitOnError,
        boolean strictReadiness,
        boolean autoComplete,
        int loadThreads,
        Map<String, Map<String, String>> backendOptions) {
    /** Checks that nothing is missing and keeps copies. */
    public ModelSettings {
        repositories = List.copyOf(repositories);
        Objects.requireNonNull(controlMode, "controlMode");
        loadModels = List.copyOf(loadModels);
        backendOptions = Map.copyOf(backendOptions);
    }

    /** Which models are loaded at start. */
    public enum ControlMode {
        /** All that the repositories hold. */
        NONE,
        /** Those that are named. */
        EXPLICIT
    }
}
