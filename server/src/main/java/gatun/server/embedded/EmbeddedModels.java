// SPDX-License-Identifier: Apache-2.0
package gatun.server.embedded;

import static gatun.server.embedded.EmbeddedErrors.translated;

import gatun.client.ModelControl;
import gatun.client.ModelMetadata;
import gatun.client.RepositoryModel;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.ModelVersion;
import gatun.runtime.server.InferenceServer;
import gatun.v2.grpc.StatisticsMessages;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelStatistics;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The models of a server in this process. */
final class EmbeddedModels implements ModelControl {
    private final InferenceServer server;
    private final Runnable requireOpen;

    /** {@code requireOpen} throws when the server was closed. */
    EmbeddedModels(InferenceServer server, Runnable requireOpen) {
        this.server = server;
        this.requireOpen = requireOpen;
    }

    @Override
    public boolean ready(String model, String version) {
        requireOpen.run();
        try {
            return server.model(model, version).ready();
        } catch (GatunException e) {
            return false;
        }
    }

    @Override
    public ModelMetadata metadata(String name, String version) {
        requireOpen.run();
        ModelVersion model = translated(() -> server.model(name, version));
        return new ModelMetadata(
                model.name(),
                version.isEmpty() ? model.readyVersions() : List.of(model.versionText()),
                model.platform(),
                model.inputs(),
                model.outputs());
    }

    @Override
    public ModelConfig config(String model, String version) {
        requireOpen.run();
        return translated(() -> server.model(model, version)).config();
    }

    @Override
    public List<ModelStatistics> statistics(String model, String version) {
        requireOpen.run();
        return translated(() -> StatisticsMessages.of(server.statistics(model, version)))
                .getModelStatsList();
    }

    @Override
    public List<RepositoryModel> index(boolean onlyReady) {
        requireOpen.run();
        return server.index().stream()
                .filter(model -> !onlyReady || model.state() == ModelState.READY)
                .map(model -> new RepositoryModel(
                        model.name(),
                        model.version(),
                        model.state() == ModelState.UNKNOWN ? "" : model.state().name(),
                        model.reason()))
                .toList();
    }

    @Override
    public void load(String model, String config, Map<String, byte[]> files) {
        requireOpen.run();
        translated(() -> {
            Map<String, MemorySegment> contents = new LinkedHashMap<>();
            files.forEach((name, content) -> contents.put(name, MemorySegment.ofArray(content)));
            server.load(model, new ModelOverride(config, contents, true));
            return model;
        });
    }

    @Override
    public void unload(String model, boolean dependents) {
        requireOpen.run();
        translated(() -> {
            server.unload(model, dependents);
            return model;
        });
    }
}
