// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a model in the server. Ordered by name, then namespace.
 *
 * @param namespace the repository that holds the model, where models of several repositories may have the same name;
 *     empty where they may not, and for a model that no repository holds
 * @param name the name that clients ask for
 */
public record ModelIdentifier(String namespace, String name) implements Comparable<ModelIdentifier> {
    /** Folders that file systems leave at their root, and that archives of macOS bring along. */
    private static final Set<String> FOLDERS_OF_SYSTEMS =
            Set.of("lost+found", "__MACOSX", "$RECYCLE.BIN", "System Volume Information");

    /** Whether a folder of this name may be a model: not with a dot first, as version control and mounts have. */
    public static boolean mayBeModel(String folderName) {
        return !folderName.startsWith(".") && !FOLDERS_OF_SYSTEMS.contains(folderName);
    }

    /** The identity of a model outside of any namespace. */
    public static ModelIdentifier of(String name) {
        return new ModelIdentifier("", name);
    }

    @Override
    public int compareTo(ModelIdentifier other) {
        int byName = name.compareTo(other.name);
        return byName != 0 ? byName : namespace.compareTo(other.namespace);
    }

    // Those of a record are made when first called, which takes milliseconds of each start.
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ModelIdentifier model && name.equals(model.name) && namespace.equals(model.namespace);
    }

    @Override
    public int hashCode() {
        return 31 * name.hashCode() + namespace.hashCode();
    }

    /** The name, behind the namespace if there is one: {@code /models::resnet}. */
    @Override
    public String toString() {
        return namespace.isEmpty() ? name : namespace + "::" + name;
    }
}
