// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.spi.ModelFormat;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.util.List;

/** Runs Triton's Python models, each instance in a process of its own. */
public final class PythonBackend extends WorkerBackend {
    /** Not started yet. */
    public PythonBackend() {
        super("python", "numpy");
    }

    @Override
    public List<ModelFormat> formats() {
        return List.of(ModelFormat.of("model.py", name(), 80));
    }

    @Override
    ModelFile file(ModelConfig config, Path versionDirectory, Path workerFiles) {
        return ModelFile.of(config, versionDirectory);
    }
}
