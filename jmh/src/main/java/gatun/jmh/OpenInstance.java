// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelParameter;
import java.nio.file.Path;
import java.util.Map;
import java.util.ServiceLoader;

/** Owns a backend with one model and one instance of it, without a server. For one thread at a time. */
final class OpenInstance implements AutoCloseable {
    private final Backend backend;
    private final BackendModel model;
    private final BackendInstance instance;

    /**
     * Loads a model.
     *
     * @param backendName what the backend calls itself, such as {@code fil}
     * @param folder the folder of the model's version
     * @param parameters of its configuration, which else is what the backend makes of the files
     */
    OpenInstance(String backendName, Path folder, Map<String, String> parameters) {
        backend = ServiceLoader.load(Backend.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(candidate -> candidate.name().equals(backendName))
                .findFirst()
                .orElseThrow();
        backend.start(Map.of());
        ModelConfig.Builder config = ModelConfig.newBuilder().setName("benchmark");
        parameters.forEach((name, value) -> config.putParameters(
                name, ModelParameter.newBuilder().setStringValue(value).build()));
        model = backend.load(backend.complete(config.build(), folder), folder);
        instance = model.newInstance(new InstanceSpec("benchmark", 1, Device.CPU));
    }

    /** Runs the model. */
    void execute(Execution request) {
        instance.execute(request);
    }

    @Override
    public void close() {
        instance.close();
        model.close();
        backend.close();
    }
}
