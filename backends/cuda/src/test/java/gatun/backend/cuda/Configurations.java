// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelParameter;
import java.util.Arrays;

/** Builds the configurations of tests: a model "m". */
final class Configurations {
    private final ModelConfig.Builder config = ModelConfig.newBuilder().setName("m");

    /** Two inputs and one output of INT32 [16], with a batch dimension, and one kernel "add" that takes them. */
    static Configurations adding() {
        return new Configurations()
                .batch(8)
                .input("A", DataType.TYPE_INT32, 16)
                .input("B", DataType.TYPE_INT32, 16)
                .output("SUM", DataType.TYPE_INT32, 16)
                .parameter("kernels", "add")
                .parameter("add.grid", "ceil(elements(A) / 256)")
                .parameter("add.block", "256")
                .parameter("add.arguments", "A, B, SUM, int32 elements(A)");
    }

    Configurations batch(int size) {
        config.setMaxBatchSize(size);
        return this;
    }

    Configurations input(String name, DataType datatype, long... dims) {
        config.addInput(ModelInput.newBuilder()
                .setName(name)
                .setDataType(datatype)
                .addAllDims(Arrays.stream(dims).boxed().toList()));
        return this;
    }

    Configurations output(String name, DataType datatype, long... dims) {
        config.addOutput(ModelOutput.newBuilder()
                .setName(name)
                .setDataType(datatype)
                .addAllDims(Arrays.stream(dims).boxed().toList()));
        return this;
    }

    Configurations parameter(String key, String value) {
        config.putParameters(
                key, ModelParameter.newBuilder().setStringValue(value).build());
        return this;
    }

    Configurations without(String key) {
        config.removeParameters(key);
        return this;
    }

    ModelConfig.Builder builder() {
        return config;
    }

    ModelPlan plan() {
        return ModelPlanReader.read(config.build());
    }
}
