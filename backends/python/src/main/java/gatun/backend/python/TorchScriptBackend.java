// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static gatun.wire.inference.DataType.TYPE_UINT16;
import static gatun.wire.inference.DataType.TYPE_UINT32;
import static gatun.wire.inference.DataType.TYPE_UINT64;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.ModelFormat;
import gatun.spi.ModelFormat.Trait;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelSequenceBatching;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** Runs TorchScript models with a Python's PyTorch, each instance in a process of its own. */
public final class TorchScriptBackend extends WorkerBackend {
    private static final String NAME = "pytorch";
    private static final String STANDARD_NAME = "model.pt";
    private static final String SCRIPT = "gatun_torchscript/model.py";

    /** Not started yet. */
    public TorchScriptBackend() {
        super(NAME, "numpy, torch");
    }

    @Override
    public List<ModelFormat> formats() {
        return List.of(ModelFormat.of(STANDARD_NAME, NAME, 60, Trait.KNOWN_BY_ENDING, Trait.ALONE_BY_ENDING)
                .platform("pytorch_libtorch", "libtorch"));
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

    /** The datatypes of which TorchScript has tensors. */
    static final class TorchDatatypes {
        /** TorchScript has no operators for these, though newer versions of PyTorch can store some of them. */
        private static final Set<DataType> UNSUPPORTED = Set.of(TYPE_UINT16, TYPE_UINT32, TYPE_UINT64);

        private static final String EXPECTED = "expected a datatype that PyTorch has, such as TYPE_INT32 or TYPE_INT64";

        private TorchDatatypes() {}

        /** Throws {@link ConfigurationException} for the first tensor of a datatype that PyTorch does not have. */
        static void check(ModelConfig config) {
            for (ModelInput input : config.getInputList()) {
                check("input", input.getName(), input.getDataType(), config);
            }
            for (ModelOutput output : config.getOutputList()) {
                check("output", output.getName(), output.getDataType(), config);
            }
            for (ModelSequenceBatching.ControlInput input :
                    config.getSequenceBatching().getControlInputList()) {
                for (ModelSequenceBatching.Control control : input.getControlList()) {
                    if (UNSUPPORTED.contains(control.getDataType())) {
                        throw new ConfigurationException(
                                ConfigurationPath.of("sequence_batching").then("control_input", input.getName()),
                                "input '" + input.getName() + "' type '" + control.getDataType()
                                        + "' is not supported by PyTorch.",
                                EXPECTED);
                    }
                }
            }
        }

        private static void check(String kind, String name, DataType datatype, ModelConfig config) {
            if (UNSUPPORTED.contains(datatype)) {
                throw new ConfigurationException(
                        ConfigurationPath.of(kind, name).then("data_type"),
                        "unsupported datatype " + datatype + " for " + kind + " '" + name + "' for model '"
                                + config.getName() + "'",
                        EXPECTED);
            }
        }
    }
}
