// SPDX-License-Identifier: Apache-2.0
package com.example.affine;

import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.nio.file.Path;
import java.util.Map;

/**
 * Computes {@code Y = scale * X + offset}. A model sets {@code scale} and {@code offset} by its parameters; where it
 * does not, the options of the backend do, and else they are 1 and 0.
 */
public final class AffineBackend implements Backend {
    private static final String SCALE = "scale";
    private static final String OFFSET = "offset";

    private volatile Map<String, String> defaults = Map.of();

    /** Called by the server, which finds this class by META-INF/services. */
    public AffineBackend() {}

    @Override
    public String name() {
        return "affine";
    }

    @Override
    public void start(Map<String, String> options) {
        // An engine would look for its library here.
        defaults = Map.copyOf(options);
    }

    @Override
    public ModelConfig complete(ModelConfig config, Path versionDirectory) {
        ModelConfig.Builder completed = config.toBuilder();
        if (config.getInputCount() == 0) {
            completed.addInput(ModelInput.newBuilder()
                    .setName("X")
                    .setDataType(DataType.TYPE_FP32)
                    .addDims(-1));
        }
        if (config.getOutputCount() == 0) {
            completed.addOutput(ModelOutput.newBuilder()
                    .setName("Y")
                    .setDataType(DataType.TYPE_FP32)
                    .addDims(-1));
        }
        return completed.build();
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        boolean fits = config.getInputCount() == 1
                && config.getOutputCount() == 1
                && config.getInput(0).getDataType() == DataType.TYPE_FP32
                && config.getOutput(0).getDataType() == DataType.TYPE_FP32;
        if (!fits) {
            throw GatunException.invalidArgument(
                    "model '" + config.getName() + "' must have one input and one output, both of TYPE_FP32");
        }
        return new AffineModel(number(config, SCALE, "1"), number(config, OFFSET, "0"));
    }

    private float number(ModelConfig config, String name, String otherwise) {
        String text = config.containsParameters(name)
                ? config.getParametersOrThrow(name).getStringValue()
                : defaults.getOrDefault(name, otherwise);
        try {
            return Float.parseFloat(text);
        } catch (NumberFormatException e) {
            throw GatunException.invalidArgument("parameter '" + name + "' of model '" + config.getName() + "' is '"
                    + text + "', expected a number");
        }
    }

    @Override
    public void close() {
        // Nothing was opened.
    }
}
