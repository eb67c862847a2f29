// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.runtime.RepositoryRefresh;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** Brings models up to date, with those that they ask, by {@code refresh}; empty where folders stay as they are. */
record ModelRefresh(Optional<RepositoryRefresh> refresh, ModelSources sources) {
    /** All models; those that cannot be brought up to date stay as they are. */
    void all() {
        refresh.ifPresent(RepositoryRefresh::refresh);
    }

    /** Refreshes a model and those it asks, directly or not. Throws when one cannot be brought up to date. */
    void model(String name) {
        refresh.ifPresent(present -> model(name, present, new HashSet<>()));
    }

    private void model(String name, RepositoryRefresh present, Set<String> done) {
        ModelName.check(name);
        if (!done.add(name)) {
            return;
        }
        present.refresh(name);
        for (RepositoryScan.Finding finding : sources.named(name).values()) {
            if (finding instanceof RepositoryScan.Finding.Model found) {
                for (String asked : dependencies(found.directory())) {
                    model(asked, present, done);
                }
            }
        }
    }

    private Iterable<String> dependencies(ModelDirectory directory) {
        try {
            return sources.read(directory).dependencies();
        } catch (GatunException e) {
            // The load says why.
            return Set.of();
        }
    }
}
