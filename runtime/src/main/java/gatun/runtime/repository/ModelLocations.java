// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ServedPath.SingleModel;
import java.nio.file.Path;
import java.util.List;

/**
 * Where models are.
 *
 * @param repositories the directories that hold models
 * @param models models outside of these, named by their paths
 * @param listed models that are served besides, from directories of any name
 * @param reloadFolders folders in which clients may list models, beside those where the listed ones are
 */
public record ModelLocations(
        List<Path> repositories, List<SingleModel> models, List<ListedModel> listed, List<Path> reloadFolders) {
    /** Keeps copies of the lists. */
    public ModelLocations {
        repositories = List.copyOf(repositories);
        models = List.copyOf(models);
        listed = List.copyOf(listed);
        reloadFolders = List.copyOf(reloadFolders);
    }
}
