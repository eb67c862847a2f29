// SPDX-License-Identifier: Apache-2.0
package gatun.it.backends;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Shape;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;

/** Answers {@code IN}, of INT32, with as many responses as its value says, each with that value as {@code OUT}. */
public final class SquareBackend implements Backend {
    /** For {@link java.util.ServiceLoader}. */
    public SquareBackend() {}

    @Override
    public String name() {
        return "square";
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        return spec -> square();
    }

    private static BackendInstance square() {
        return execution -> {
            int value = Inputs.named(execution, "IN").bytes().get(ElementLayouts.INT32, 0);
            execution.inferStarted();
            for (int i = 0; i < value; i++) {
                for (int output = 0; output < execution.outputCount(); output++) {
                    execution
                            .output(output, Datatype.INT32, Shape.of(1), Integer.BYTES)
                            .set(ElementLayouts.INT32, 0, value);
                }
                execution.send();
            }
            execution.inferEnded();
        };
    }
}
