// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * All states of a model of sequences: inputs of a run, and outputs that no request gets as such. Used by the instance's
 * thread only.
 */
final class StateExchanges implements InputGroup {
    private final Run run;
    private final List<StateExchange> states;

    StateExchanges(Run run, List<StateExchange> states) {
        this.run = run;
        this.states = states;
    }

    @Override
    public int count() {
        return states.size();
    }

    @Override
    public TensorSpec spec(int index) {
        return states.get(index).inputSpec();
    }

    @Override
    public Tensor tensor(int index) {
        try {
            return states.get(index).input();
        } catch (GatunException e) {
            throw run.refuse(e);
        }
    }

    String outputName(int index) {
        return states.get(index).rule().outputName();
    }

    /** Memory for the next value of state {@code index}. */
    MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
        try {
            return states.get(index).output(datatype, shape, byteSize);
        } catch (GatunException e) {
            throw run.refuse(e);
        }
    }

    @Override
    public void clear() {
        states.forEach(StateExchange::clear);
    }
}
