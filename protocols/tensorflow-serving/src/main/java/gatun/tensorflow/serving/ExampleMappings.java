// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.runtime.ModelVersion;
import gatun.spi.EntryPoint;
import gatun.wire.inference.ModelConfig;
import java.util.ArrayList;
import java.util.List;

/** Mappings of examples, configured by the parameters {@code tensorflow_classify} and {@code _regress}. */
public final class ExampleMappings {
    private ExampleMappings() {}

    /** Checks a complete configuration before its model is loaded. Throws INVALID_ARGUMENT for a wrong mapping. */
    public static void check(ModelConfig config) {
        for (ExampleMethod method : ExampleMethod.values()) {
            var ignored = ExampleMapping.of(config, method);
        }
    }

    /** The signatures of a model: its entry points, and those that its configuration makes for examples. */
    public static List<EntryPoint> signatures(ModelVersion model) {
        List<EntryPoint> signatures = new ArrayList<>(model.entryPoints().values());
        for (ExampleMethod method : ExampleMethod.values()) {
            ExampleMapping.of(model.config(), method)
                    .map(mapping -> mapping.signature(model.config()))
                    .filter(signature -> !model.entryPoints().containsKey(signature.name()))
                    .ifPresent(signatures::add);
        }
        return signatures;
    }
}
