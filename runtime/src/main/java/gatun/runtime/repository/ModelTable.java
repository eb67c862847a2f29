// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The models that the server knows, each with its versions. Safe for any thread. */
final class ModelTable {
    /** How many names whose files are gone stay known: more than anybody asks for again, and not one for each that ever was. */
    private static final int REMEMBERED = 1000;

    /** By name; several entries only with namespaces. Lists are immutable and never empty. */
    private final Map<String, List<ModelEntry>> entries = new ConcurrentHashMap<>();

    private final boolean namespacing;
    private final ChangeListeners listeners;

    /** An empty table. {@code namespacing} says whether models of several repositories may have the same name. */
    ModelTable(boolean namespacing, ChangeListeners listeners) {
        this.namespacing = namespacing;
        this.listeners = listeners;
    }

    /** Whether models of several repositories may have the same name. */
    boolean namespacing() {
        return namespacing;
    }

    ChangeListeners listeners() {
        return listeners;
    }

    Optional<ModelEntry> find(ModelIdentifier model) {
        return named(model.name()).stream()
                .filter(entry -> entry.model().equals(model))
                .findFirst();
    }

    List<ModelEntry> named(String name) {
        List<ModelEntry> named = entries.get(name);
        return named == null ? List.of() : named;
    }

    /** The entry that a client means by a name. Throws when there is none, or several. Allocates nothing. */
    ModelEntry resolve(String name) {
        List<ModelEntry> named = named(name);
        if (!namespacing) {
            if (named.isEmpty() || named.getFirst().versions().isEmpty()) {
                throw ModelEntry.unknown(name);
            }
            return named.getFirst();
        }
        ModelEntry found = null;
        for (int i = 0; i < named.size(); i++) {
            ModelEntry entry = named.get(i);
            if (entry.isKnown()) {
                if (found != null) {
                    throw ambiguous(name, named);
                }
                found = entry;
            }
        }
        if (found == null) {
            throw named.isEmpty()
                    ? GatunException.invalidArgument(ModelEntry.unknown(name).getMessage())
                    : new GatunException(
                            ErrorCode.NOT_FOUND, "Identifier of model '" + name + "' is not found in global map");
        }
        return found;
    }

    private static GatunException ambiguous(String name, List<ModelEntry> named) {
        long count = named.stream().filter(ModelEntry::isKnown).count();
        return GatunException.invalidArgument("There are " + count + " identifiers of model '" + name
                + "' in global map, model namespace must be provided to resolve ambiguity. Requests name no namespace:"
                + " ask an ensemble of the same repository, or serve the model under another name");
    }

    /** The entry an ensemble means: of its namespace, or the only one; null for none or several. Allocates nothing. */
    @Nullable
    ModelEntry member(String namespace, String name) {
        List<ModelEntry> named = named(name);
        if (!namespacing) {
            return named.isEmpty() ? null : named.getFirst();
        }
        ModelEntry only = null;
        boolean several = false;
        for (int i = 0; i < named.size(); i++) {
            ModelEntry entry = named.get(i);
            if (entry.isKnown()) {
                if (entry.model().namespace().equals(namespace)) {
                    return entry;
                }
                several = only != null;
                only = entry;
            }
        }
        return several ? null : only;
    }

    /** The entry of that model, made when it is missing; its files are there. */
    ModelEntry entry(ModelIdentifier model) {
        List<ModelEntry> named = entries.compute(model.name(), (name, known) -> {
            if (known == null) {
                return List.of(new ModelEntry(model));
            }
            return known.stream().anyMatch(entry -> entry.model().equals(model))
                    ? known
                    : Stream.concat(known.stream(), Stream.of(new ModelEntry(model)))
                            .toList();
        });
        ModelEntry entry = named.stream()
                .filter(known -> known.model().equals(model))
                .findFirst()
                .orElseThrow();
        entry.departed(false);
        return entry;
    }

    /** How many models there are, whose files are not gone. */
    int size() {
        return (int) all().stream().filter(entry -> !entry.departed()).count();
    }

    /** Every entry, in no order. */
    Collection<ModelEntry> all() {
        return entries.values().stream().flatMap(List::stream).toList();
    }

    /** Calls {@code look} with every entry, in no order. Makes no object for an entry. */
    void forEach(Consumer<ModelEntry> look) {
        for (List<ModelEntry> named : entries.values()) {
            for (int i = 0; i < named.size(); i++) {
                look.accept(named.get(i));
            }
        }
    }

    List<ModelEntry> asking(String name) {
        // Looked at after each load of any model, so that this makes nothing for those that do not.
        List<ModelEntry> asking = new ArrayList<>();
        for (List<ModelEntry> named : entries.values()) {
            for (ModelEntry entry : named) {
                if (entry.asks(name)) {
                    asking.add(entry);
                }
            }
        }
        return asking;
    }

    List<ModelEntry> dependents(ModelEntry asked) {
        return asking(asked.name()).stream()
                .filter(entry -> member(entry.model().namespace(), asked.name()) == asked)
                .toList();
    }

    /** Drops a model without files from the index after its last version; one that had versions stays known. */
    void removeUnused(ModelEntry entry) {
        if (entry.departed()
                || entry.versions().stream().anyMatch(version -> version.model().isPresent())) {
            return;
        }
        long departed = all().stream().filter(ModelEntry::departed).count();
        if (entry.versions().isEmpty() || departed >= REMEMBERED) {
            remove(entry);
        } else {
            entry.departed(true);
        }
        listeners.changed();
    }

    private void remove(ModelEntry entry) {
        entries.computeIfPresent(entry.name(), (name, known) -> {
            List<ModelEntry> left =
                    known.stream().filter(other -> other != entry).toList();
            return left.isEmpty() ? null : left;
        });
    }
}
