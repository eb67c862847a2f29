// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import com.google.protobuf.TextFormat;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.wire.inference.ModelVersionPolicy;
import gatun.wire.tensorflow.serving.FileSystemStoragePathSourceConfig.ServableVersionPolicy;
import gatun.wire.tensorflow.serving.ModelConfig;
import gatun.wire.tensorflow.serving.ModelServerConfig;
import gatun.wire.tensorflow.serving.ModelType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Lists of models as TensorFlow Serving's configuration writes them. */
public final class ListedModels {
    /** The kind of SavedModels, and here of every model whose files tell its kind. */
    public static final String TENSORFLOW = "tensorflow";

    private ListedModels() {}

    /**
     * The listed models; whether their kinds are served is not looked at. Throws INVALID_ARGUMENT with TensorFlow
     * Serving's text for the first that is wrong.
     */
    public static List<ListedModel> of(ModelServerConfig config) {
        if (!config.hasModelConfigList()) {
            throw GatunException.invalidArgument(
                    "ServerModelConfig type not supported by HandleReloadConfigRequest. Only"
                            + " ModelConfigList is currently supported");
        }
        Set<String> names = new HashSet<>();
        List<ListedModel> models = new ArrayList<>();
        for (ModelConfig model : config.getModelConfigList().getConfigList()) {
            if (!names.add(model.getName())) {
                throw GatunException.invalidArgument(
                        "Illegal to list model " + model.getName() + " multiple times in config list");
            }
        }
        for (ModelConfig model : config.getModelConfigList().getConfigList()) {
            if (!model.getBasePath().startsWith("/")) {
                throw GatunException.invalidArgument("Expected model " + model.getName()
                        + " to have an absolute path or URI; got base_path()=" + model.getBasePath());
            }
            models.add(new ListedModel(
                    model.getName(),
                    Path.of(model.getBasePath()),
                    platform(model),
                    policy(model.getModelVersionPolicy()),
                    model.getVersionLabelsMap()));
        }
        return models;
    }

    /** As {@link #of}, from a file in protobuf's text format, and as {@link #requireServed}. */
    public static List<ListedModel> read(Path file) {
        ModelServerConfig.Builder config = ModelServerConfig.newBuilder();
        try {
            TextFormat.merge(ProtobufText.read(file), config);
        } catch (TextFormat.ParseException e) {
            String name = config.getDescriptorForType().getFullName();
            throw GatunException.invalidArgument("Invalid protobuf file: '" + file + "': Error parsing text-format "
                    + name + ": "
                    + String.valueOf(e.getMessage()).lines().findFirst().orElse("")
                    + "; expected " + name + " in protobuf's text format");
        } catch (IOException e) {
            throw GatunException.invalidArgument("cannot read " + file + ": " + IoFailure.reason(e));
        }
        List<ListedModel> models = of(config.build());
        requireServed(models);
        return models;
    }

    /**
     * Throws INVALID_ARGUMENT or NOT_FOUND with TensorFlow Serving's text for the first model of a kind that is not
     * served, or whose folder is not there.
     */
    public static void requireServed(List<ListedModel> models) {
        for (ListedModel model : models) {
            if (!model.platform().equals(TENSORFLOW)) {
                throw GatunException.invalidArgument(
                        "Model " + model.name() + " requests unsupported platform " + model.platform());
            }
            if (!Files.isDirectory(model.directory())) {
                throw new GatunException(
                        ErrorCode.NOT_FOUND,
                        "Could not find base path " + model.directory() + " for servable " + model.name()
                                + " with error NOT_FOUND: there is no such folder");
            }
        }
    }

    private static String platform(ModelConfig model) {
        boolean typed = model.getModelType() != ModelType.MODEL_TYPE_UNSPECIFIED;
        boolean named = !model.getModelPlatform().isEmpty();
        if (typed == named) {
            throw GatunException.invalidArgument("Illegal setting " + (typed ? "both" : "neither")
                    + " ModelServerConfig::model_type (deprecated) " + (typed ? "and" : "nor")
                    + " ModelServerConfig::model_platform, model name is " + model.getName());
        }
        String platform =
                named ? model.getModelPlatform() : model.getModelType() == ModelType.TENSORFLOW ? TENSORFLOW : "other";
        return platform;
    }

    private static ModelVersionPolicy policy(ServableVersionPolicy policy) {
        ModelVersionPolicy.Builder versions = ModelVersionPolicy.newBuilder();
        switch (policy.getPolicyChoiceCase()) {
            case LATEST ->
                versions.getLatestBuilder()
                        .setNumVersions(Math.max(1, policy.getLatest().getNumVersions()));
            case ALL -> versions.setAll(ModelVersionPolicy.All.getDefaultInstance());
            case SPECIFIC ->
                versions.getSpecificBuilder()
                        .addAllVersions(policy.getSpecific().getVersionsList());
            case POLICYCHOICE_NOT_SET -> {
                // The model's own configuration decides.
            }
        }
        return versions.build();
    }

    /**
     * A model that is served because a list names it, from a directory of any name.
     *
     * @param name the model's name
     * @param directory where its versions are, one directory for each, and its configuration if it has one
     * @param platform its kind as the list names it; for information only
     * @param versions which versions are served; no choice for what the model's own configuration says, and without one the
     *     highest
     * @param labels names by which clients may ask for versions
     */
    public record ListedModel(
            String name, Path directory, String platform, ModelVersionPolicy versions, Map<String, Long> labels) {
        /** Checks that nothing is missing, and copies the map. */
        public ListedModel {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(directory, "directory");
            Objects.requireNonNull(platform, "platform");
            Objects.requireNonNull(versions, "versions");
            labels = Map.copyOf(labels);
        }
    }
}
