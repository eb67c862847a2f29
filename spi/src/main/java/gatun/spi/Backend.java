// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tensor.Datatype;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * An engine that runs models; found by {@link java.util.ServiceLoader}. One object serves all models of the engine and
 * is safe for any thread. An engine whose native library is missing still constructs, and says what is missing in
 * {@link #start}.
 */
public interface Backend extends AutoCloseable {
    /** The name that a configuration's {@code backend} field gives, such as {@code onnxruntime}. */
    String name();

    /** The engine's kinds of model files, constant; none by default. May be called before {@link #start}. */
    default List<ModelFormat> formats() {
        return List.of();
    }

    /**
     * The number of instances that a model has on the processor where its configuration does not say it; more than one
     * for an engine that answers several requests faster so. May be called before {@link #start}.
     */
    default int instancesOnCpu() {
        return 1;
    }

    /** The options that an operator can give the engine, constant; by default none. */
    default List<Option> options() {
        return List.of();
    }

    /** The libraries that {@code gatun install NAME} downloads for the engine, by their names; by default none. */
    default List<String> libraries() {
        return List.of();
    }

    /** Loads the engine's library and tells its version, or why there is none; empty by default. */
    default Optional<String> libraryVersion() {
        return Optional.empty();
    }

    /**
     * Opens early what needs no option, beside the start of the server, on another thread than {@link #start}; what goes
     * wrong then is told by that. By default nothing.
     */
    default void prepare() {}

    /**
     * Model files that a server can ask before its clients do, so that the engine's code is compiled; by default none. By
     * the datatype of their tensors, INT32 and BYTES: INPUT0, INPUT1, OUTPUT0 and OUTPUT1, each of 16 elements.
     */
    default Map<Datatype, URL> warmUpModels() {
        return Map.of();
    }

    /**
     * The files outside of a model's file that belong to it, by their paths from its folder, each with its path beside a
     * copy of the model; by default none.
     *
     * @param model a file of one of the {@link #formats}
     * @param copy the name of the copy
     * @throws IOException when the model cannot be read
     */
    default Map<Path, Path> companions(Path model, String copy) throws IOException {
        return Map.of();
    }

    /** Whether models run on such devices here; by default only on the processor. Called at start. */
    default boolean runsOn(Device.Kind kind) {
        return kind == Device.Kind.CPU;
    }

    /** What would make {@link #runsOn} true, or is missing; empty for nothing. Called at start. */
    default String advice(Device.Kind kind) {
        return "";
    }

    /**
     * Gives the engine the server that it is part of, for models that ask others; called once, before {@link #start}.
     */
    default void connect(ModelServer server) {}

    /**
     * Makes the engine usable; called once, before the first model that needs it, with the options that
     * the operator gave it. Does nothing unless an engine has something to start.
     *
     * @throws gatun.memory.tensor.GatunException UNAVAILABLE with what is missing and how to install it
     */
    default void start(Map<String, String> options) {}

    /**
     * Whether the files of a model may come with a load request though the operator has not allowed it. Only for an engine
     * whose models are data, which neither run code nor open other files; by default they may not. The operator's option
     * {@code allow-uploads} of the engine decides otherwise. May be called before {@link #start}.
     */
    default boolean takesUploads() {
        return false;
    }

    /**
     * The names of a configuration's parameters that the configuration of a load request may set: how the model is run,
     * but neither a program, a library, an environment, a user, a path nor the limit of a process. The values of all
     * others are the operator's. By default none. May be called before {@link #start}.
     */
    default Set<String> requestParameters() {
        return Set.of();
    }

    /**
     * Fields of a configuration that the server leaves without a meaning and this engine uses, each by the name of its
     * message and its own, such as {@code ModelOptimizationPolicy.graph}. A model that sets another of these fields is told
     * that it has no effect, or is not loaded. By default none. May be called before {@link #start}.
     */
    default Set<String> configurationFields() {
        return Set.of();
    }

    /** Whether models run in the engine's own processes, so nothing is left to isolate. False by default. */
    default boolean isolatesItself() {
        return false;
    }

    /**
     * Fills in what {@code config} leaves out and the model's files know: inputs, outputs, batching. Does nothing
     * unless an engine has such files.
     *
     * @param versionDirectory the directory of the version that decides
     * @return the completed configuration; {@code config} itself when nothing is missing
     * @throws gatun.memory.tensor.GatunException when the files contradict the configuration or cannot be read
     */
    default ModelConfig complete(ModelConfig config, Path versionDirectory) {
        return config;
    }

    /**
     * Loads a version.
     *
     * @throws gatun.memory.tensor.GatunException when it cannot be loaded
     */
    BackendModel load(ModelConfig config, Path versionDirectory);

    /** The engine's live native tensors, cached ones included; bounded, so leaks show. 0 without any. */
    default long liveValueCount() {
        return 0;
    }

    /** Ends the engine; no model of it is loaded any more. Does nothing unless it holds something. */
    @Override
    default void close() {}

    /**
     * An option of an engine.
     *
     * @param name its name in {@code --backend-config=ENGINE,NAME=VALUE}
     * @param description what it decides, in a sentence
     * @param ofAll whether {@code gatun tritonserver} takes it for all engines at once
     */
    record Option(String name, String description, boolean ofAll) {
        /** An option that is given to one engine. */
        public Option(String name, String description) {
            this(name, description, false);
        }
    }
}
