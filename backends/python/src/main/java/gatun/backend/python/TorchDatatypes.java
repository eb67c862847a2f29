// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static gatun.wire.inference.DataType.TYPE_UINT16;
import static gatun.wire.inference.DataType.TYPE_UINT32;
import static gatun.wire.inference.DataType.TYPE_UINT64;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelSequenceBatching;
import java.util.Set;

/** The datatypes of which TorchScript has tensors. */
final class TorchDatatypes {
    /** TorchScript has no operators for these, though newer versions of PyTorch can store some of them. */
    private static final Set<DataType> UNSUPPORTED = Set.of(TYPE_UINT16, TYPE_UINT32, TYPE_UINT64);

    private static final String EXPECTED = "expected a datatype that PyTorch has, such as TYPE_INT32 or TYPE_INT64";

    private TorchDatatypes() {}

    /**
     * Checks the tensors that a configuration names.
     *
     * @throws ConfigurationException for the first one whose datatype PyTorch does not have
     */
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
