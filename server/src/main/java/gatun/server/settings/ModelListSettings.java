// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ListedModels;
import gatun.runtime.ListedModels.ListedModel;
import gatun.stores.location.RepositoryLocation;
import gatun.wire.inference.ModelVersionPolicy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The models that are served because the operator names them, as in TensorFlow Serving, and not because a repository
 * holds them.
 *
 * @param names the source of the names
 * @param filePoll how long after one look at a file the next one comes; zero for never
 * @param reloadFolders folders in which clients may list models, beside those where the models of the list are
 */
public record ModelListSettings(Names names, Duration filePoll, List<Path> reloadFolders) {
    /** Checks that nothing is missing. */
    public ModelListSettings {
        Objects.requireNonNull(names, "names");
        Objects.requireNonNull(filePoll, "filePoll");
        reloadFolders = List.copyOf(reloadFolders);
    }

    /** A list beside whose models alone clients may list others. */
    public ModelListSettings(Names names, Duration filePoll) {
        this(names, filePoll, List.of());
    }

    /** The source of the names of models. */
    public sealed interface Names {
        /** One model. {@code basePath} has one folder for each version. */
        record One(String name, Path basePath) implements Names {}

        /** One model that is fetched first; {@code location} has one folder for each version. */
        record Stored(String name, RepositoryLocation location) implements Names {}

        /** A list in a file, in protobuf's text format. */
        record File(Path path) implements Names {}
    }

    /**
     * The models.
     *
     * @throws GatunException INVALID_ARGUMENT when a file cannot be read, or what it lists is wrong; NOT_FOUND when a
     *     model's folder is not there
     */
    public List<ListedModel> read() {
        return switch (names) {
            case Names.One one -> {
                List<ListedModel> only = List.of(new ListedModel(
                        one.name(),
                        one.basePath(),
                        ListedModels.TENSORFLOW,
                        ModelVersionPolicy.getDefaultInstance(),
                        Map.of()));
                ListedModels.requireServed(only);
                yield only;
            }
            case Names.Stored stored ->
                throw new IllegalStateException(stored.location().text() + " is fetched before it is read");
            case Names.File file -> ListedModels.read(file.path());
        };
    }
}
