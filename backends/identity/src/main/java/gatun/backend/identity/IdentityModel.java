// SPDX-License-Identifier: Apache-2.0
package gatun.backend.identity;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import java.util.Map;

/** A model whose outputs repeat its inputs. Has no state, so that one object is the model and each of its instances. */
final class IdentityModel implements BackendModel, BackendInstance {
    private final Map<String, String> inputOfOutput;

    /** @param inputOfOutput the input that each output repeats, by their names */
    IdentityModel(Map<String, String> inputOfOutput) {
        this.inputOfOutput = Map.copyOf(inputOfOutput);
    }

    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        return this;
    }

    @Override
    public boolean isBoundToThread() {
        return false;
    }

    @Override
    public void execute(Execution execution) {
        execution.inferStarted();
        for (int i = 0; i < execution.outputCount(); i++) {
            int input = indexOf(execution, execution.outputName(i));
            execution.outputFromInput(i, input, execution.inputSpec(input).shape());
        }
        execution.inferEnded();
    }

    private int indexOf(Execution execution, String output) {
        String name = inputOfOutput.get(output);
        for (int i = 0; i < execution.inputCount(); i++) {
            if (execution.inputSpec(i).name().equals(name)) {
                return i;
            }
        }
        throw new GatunException(
                ErrorCode.INVALID_ARGUMENT,
                "output '" + output + "' repeats input '" + name + "', which the request leaves out");
    }

    @Override
    public void close() {
        // Nothing is held, neither by the model nor by its instances.
    }
}
