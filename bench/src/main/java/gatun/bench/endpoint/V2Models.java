// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.ModelDescription;
import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.client.ModelMetadata;
import gatun.client.RepositoryModel;
import gatun.client.ServerException;
import gatun.memory.tensor.Shape;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import java.util.List;
import java.util.Optional;

/** Asks a server of the v2 protocol for the description of a model. */
public final class V2Models {
    private V2Models() {}

    /** The model's description. Throws {@link TargetException} when the server has no such model, or fails. */
    public static ModelDescription describe(GatunClient client, String model, String version) {
        ModelMetadata metadata;
        try {
            metadata = client.models().metadata(model, version);
        } catch (ServerException e) {
            throw new TargetException(unknown(client, model, version, e), e);
        } catch (ClientException e) {
            throw new TargetException("the server at " + client.address() + " cannot be asked: " + e.getMessage(), e);
        }
        Optional<ModelConfig> config = config(client, model, version);
        boolean batched = config.map(known -> known.getMaxBatchSize() > 0).orElseGet(() -> looksBatched(metadata));
        return new ModelDescription(
                model,
                metadata.inputs(),
                metadata.outputs(),
                batched,
                config.map(known -> known.getModelTransactionPolicy().getDecoupled())
                        .orElse(false),
                config.map(known -> known.getInputList().stream()
                                .filter(ModelInput::getOptional)
                                .map(ModelInput::getName)
                                .toList())
                        .orElse(List.of()));
    }

    private static String unknown(GatunClient client, String model, String version, ServerException said) {
        List<RepositoryModel> models;
        try {
            models = client.models().index(false);
        } catch (ClientException e) {
            return String.valueOf(said.getMessage());
        }
        boolean known = models.stream().anyMatch(one -> one.name().equals(model));
        String what = "model '" + model + "'" + (version.isEmpty() ? "" : " of version " + version);
        if (known) {
            String state = models.stream()
                    .filter(one -> one.name().equals(model))
                    .map(one -> (one.version().isEmpty() ? "" : "version " + one.version() + " ")
                            + (one.state().isEmpty() ? "not loaded" : one.state())
                            + (one.reason().isEmpty() ? "" : " (" + one.reason() + ")"))
                    .reduce((left, right) -> left + ", " + right)
                    .orElse("");
            return "the server at " + client.address() + " does not serve " + what + ": " + said.getMessage()
                    + "; it has " + state;
        }
        String names = models.stream()
                .map(RepositoryModel::name)
                .distinct()
                .sorted()
                .reduce((left, right) -> left + ", " + right)
                .orElse("none");
        return "the server at " + client.address() + " has no model '" + model + "': expected one of " + names;
    }

    /** Other servers need not have the extension. */
    private static Optional<ModelConfig> config(GatunClient client, String model, String version) {
        try {
            return Optional.of(client.models().config(model, version));
        } catch (ClientException e) {
            return Optional.empty();
        }
    }

    private static boolean looksBatched(ModelMetadata metadata) {
        return !metadata.inputs().isEmpty()
                && metadata.inputs().stream()
                        .allMatch(input ->
                                input.shape().rank() > 1 && input.shape().dim(0) == Shape.VARIABLE);
    }
}
