// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Runs TorchScript models ({@code platform: "pytorch_libtorch"}) with the PyTorch that a Python has, each instance in a
 * process of its own.
 */
public final class TorchScriptBackend extends WorkerBackend {
    private static final String STANDARD_NAME = "model.pt";

    /** The program that every such model has. */
    private static final String SCRIPT = "gatun_torchscript/model.py";

    /** Not started yet. */
    public TorchScriptBackend() {
        super("pytorch", "numpy, torch");
    }

    @Override
    ModelFile file(ModelConfig config, Path versionDirectory, Path workerFiles) {
        String name = config.getDefaultModelFilename().isEmpty() ? STANDARD_NAME : config.getDefaultModelFilename();
        Path directory = versionDirectory.toAbsolutePath().normalize();
        if (!Files.isRegularFile(directory.resolve(name))) {
            throw new ConfigurationException(
                    ConfigurationPath.MODEL,
                    "model '" + config.getName() + "' has no file " + name + " in " + directory,
                    "put a TorchScript file there, as torch.jit.save writes it, or name it by default_model_filename");
        }
        TorchDatatypes.check(config);
        return ModelFile.builtIn(workerFiles.resolve(SCRIPT), directory);
    }
}
