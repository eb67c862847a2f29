// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.Comparator;

/**
 * The identity of a model in the server. Ordered by name, then namespace.
 *
 * @param namespace the repository that holds the model, where models of several repositories may have the same name;
 *     empty where they may not, and for a model that no repository holds
 * @param name the name that clients ask for
 */
public record ModelIdentifier(String namespace, String name) implements Comparable<ModelIdentifier> {
    private static final Comparator<ModelIdentifier> ORDER =
            Comparator.comparing(ModelIdentifier::name).thenComparing(ModelIdentifier::namespace);

    /** The identity of a model outside of any namespace. */
    public static ModelIdentifier of(String name) {
        return new ModelIdentifier("", name);
    }

    @Override
    public int compareTo(ModelIdentifier other) {
        return ORDER.compare(this, other);
    }

    /** The name, behind the namespace if there is one: {@code /models::resnet}. */
    @Override
    public String toString() {
        return namespace.isEmpty() ? name : namespace + "::" + name;
    }
}
