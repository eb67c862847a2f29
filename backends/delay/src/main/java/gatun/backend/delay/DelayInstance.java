// SPDX-License-Identifier: Apache-2.0
package gatun.backend.delay;

import gatun.backend.support.TimeParameter;
import gatun.memory.tensor.GatunException;
import gatun.spi.BackendInstance;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.spi.ParameterValue;
import gatun.spi.StopSignal;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Waits, then answers with the inputs. */
final class DelayInstance implements BackendInstance {
    private final DelayModel model;
    private final StopSignal signal = new StopSignal();

    DelayInstance(DelayModel model) {
        this.model = model;
    }

    @Override
    public void execute(Execution execution) {
        signal.begin(execution);
        Duration delay = delay(execution);
        execution.inferStarted();
        signal.await(delay);
        for (int i = 0; i < execution.outputCount(); i++) {
            int input = indexOf(execution, execution.outputName(i));
            execution.outputFromInput(i, input, execution.inputSpec(input).shape());
        }
        execution.inferEnded();
    }

    /** The longest that any request of the run is to take. */
    private Duration delay(Execution execution) {
        Duration longest = execution.requests().isEmpty() ? model.delay() : Duration.ZERO;
        for (ExecutionRequest request : execution.requests()) {
            ParameterValue wish = request.parameters().get(DelayBackend.PARAMETER);
            Duration own =
                    switch (wish) {
                        case null -> model.delay();
                        case ParameterValue.Int64 millis ->
                            TimeParameter.of(DelayBackend.PARAMETER, millis.value(), TimeUnit.MILLISECONDS);
                        default ->
                            throw GatunException.invalidArgument(
                                    "parameter '" + DelayBackend.PARAMETER + "' is " + wish + ", expected an integer");
                    };
            longest = longest.compareTo(own) < 0 ? own : longest;
        }
        return longest;
    }

    private int indexOf(Execution execution, String output) {
        String name = model.inputOfOutput().get(output);
        for (int i = 0; i < execution.inputCount(); i++) {
            if (execution.inputSpec(i).name().equals(name)) {
                return i;
            }
        }
        throw GatunException.invalidArgument(
                "output '" + output + "' is answered with input '" + name + "', which the request leaves out");
    }

    @Override
    public void stop() {
        signal.stop();
    }
}
