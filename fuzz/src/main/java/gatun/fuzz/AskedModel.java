// SPDX-License-Identifier: Apache-2.0
package gatun.fuzz;

import gatun.memory.tensor.TensorSpec;
import gatun.runtime.ModelVersion;
import gatun.wire.inference.ModelConfig;
import java.util.List;

/** A model that is only asked for what it takes. Immutable. */
public record AskedModel(List<TensorSpec> inputs, List<TensorSpec> outputs) implements ModelVersion {
    /** Copies the lists. */
    public AskedModel {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }

    /** A model that answers nothing. */
    public static AskedModel taking(List<TensorSpec> inputs) {
        return new AskedModel(inputs, List.of());
    }

    @Override
    public long version() {
        return 1;
    }

    @Override
    public String versionText() {
        return "1";
    }

    @Override
    public ModelConfig config() {
        ModelConfig.Builder config = ModelConfig.newBuilder();
        inputs.forEach(input -> config.addInputBuilder().setName(input.name()));
        return config.build();
    }

    @Override
    public boolean ready() {
        return true;
    }

    @Override
    public List<String> readyVersions() {
        return List.of("1");
    }
}
