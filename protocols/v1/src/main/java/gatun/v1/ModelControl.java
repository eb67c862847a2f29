// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.server.RepositoryControl;
import gatun.wire.v1.ModelRepositoryIndex;
import java.util.List;
import java.util.stream.Collectors;

/** Loads, unloads and lists models. Safe for any thread. */
public final class ModelControl {
    private final RepositoryControl server;

    ModelControl(RepositoryControl server) {
        this.server = server;
    }

    /**
     * Loads a model, or anew when it has changed; waits until it is ready. Throws UNAVAILABLE where clients do not load
     * models, INTERNAL with the protocol's text when it does not load.
     */
    public void load(String model) {
        try {
            server.load(model, ModelOverride.NONE);
        } catch (GatunException e) {
            throw e.code() == ErrorCode.UNAVAILABLE ? e : new GatunException(ErrorCode.INTERNAL, whyNot(model, e), e);
        }
    }

    /** v1's text for a model that does not load; the runtime's text for one that still serves its old versions. */
    private String whyNot(String model, GatunException failure) {
        List<ModelStatus> known = server.index().stream()
                .filter(line -> line.name().equals(model))
                .toList();
        String failed = "failed to load '" + model + "', ";
        if (known.isEmpty()) {
            return failed + "failed to poll from model repository";
        }
        if (known.stream().allMatch(line -> line.version().isEmpty())) {
            return failed + "no version is available";
        }
        String missing = known.stream()
                .filter(line -> line.state() != ModelState.READY)
                .map(ModelStatus::version)
                .collect(Collectors.joining(","));
        return missing.isEmpty()
                ? failed + failure.getMessage()
                : failed + "versions that are not available: " + missing;
    }

    /**
     * Unloads a model, if there is one; requests that were accepted are answered. Throws UNAVAILABLE where clients do
     * not unload models, INTERNAL with the protocol's text when some versions serve on, such as those that another
     * client has loaded meanwhile.
     */
    public void unload(String model) {
        server.unload(model, false);
        String present = server.index().stream()
                .filter(line -> line.name().equals(model) && line.state() == ModelState.READY)
                .map(ModelStatus::version)
                .collect(Collectors.joining(","));
        if (!present.isEmpty()) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "failed to unload '" + model + "', versions that are still available: " + present);
        }
    }

    /** The names of all models of the repository. */
    public ModelRepositoryIndex index() {
        ModelRepositoryIndex.Builder index = ModelRepositoryIndex.newBuilder();
        server.index().stream().map(ModelStatus::name).distinct().forEach(name -> index.addModelsBuilder()
                .setName(name));
        return index.build();
    }
}
