// SPDX-License-Identifier: Apache-2.0
package gatun.backend.identity;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.spi.BackendInstance;
import gatun.spi.Datatypes;
import gatun.spi.Execution;
import gatun.spi.StopSignal;
import gatun.wire.inference.ModelInput;
import java.util.List;

/** Repeats inputs, after a while where the model says so. */
final class IdentityInstance implements BackendInstance {
    private static final int NONE = -1;

    private final IdentityModel model;
    private final StopSignal signal = new StopSignal();

    IdentityInstance(IdentityModel model) {
        this.model = model;
    }

    @Override
    public boolean isBoundToThread() {
        return false;
    }

    @Override
    public void execute(Execution execution) {
        begin(execution);
        model.activities().tell(execution);
        pass(execution);
        repeat(execution);
        execution.inferEnded();
    }

    @Override
    public void executeApart(List<? extends Execution> executions) {
        Execution first = executions.getFirst();
        begin(first);
        executions.forEach(model.activities()::tell);
        pass(first);
        executions.forEach(this::repeat);
        first.inferEnded();
    }

    private void begin(Execution execution) {
        if (!model.delay().isZero()) {
            signal.begin(execution);
        }
    }

    /** Lets the time pass that a run takes. */
    private void pass(Execution execution) {
        execution.inferStarted();
        if (!model.delay().isZero()) {
            signal.await(model.delay());
        }
    }

    private void repeat(Execution execution) {
        for (int i = 0; i < execution.outputCount(); i++) {
            ModelInput repeated = input(execution.outputName(i));
            int input = indexOf(execution, repeated.getName());
            if (input != NONE) {
                execution.outputFromInput(i, input, execution.inputSpec(input).shape());
            } else {
                fillWithZeros(execution, i, repeated);
            }
        }
    }

    private ModelInput input(String output) {
        ModelInput input = model.inputOfOutput().get(output);
        if (input == null) {
            throw GatunException.invalidArgument("model has no output '" + output + "'");
        }
        return input;
    }

    private static int indexOf(Execution execution, String input) {
        for (int i = 0; i < execution.inputCount(); i++) {
            if (execution.inputSpec(i).name().equals(input)) {
                return i;
            }
        }
        return NONE;
    }

    /** For an optional input that is left out; an empty string is four bytes of zeros too. */
    private void fillWithZeros(Execution execution, int output, ModelInput input) {
        Datatype datatype = Datatypes.of(input.getDataType());
        Shape shape = Shape.of(
                input.getDimsList().stream().mapToLong(dim -> Math.max(dim, 1)).toArray());
        if (model.batching()) {
            shape = shape.prepend(
                    execution.inputCount() == 0
                            ? 1
                            : execution.inputSpec(0).shape().dim(0));
        }
        long byteSize = datatype == Datatype.BYTES ? shape.elementCount() * Integer.BYTES : shape.byteSize(datatype);
        execution.output(output, datatype, shape, byteSize).fill((byte) 0);
    }

    @Override
    public void stop() {
        signal.stop();
    }
}
