// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.spi.Execution;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** A request whose memory is there already, so that what is measured is the backend alone. For one thread at a time. */
final class PreparedRequest implements Execution {
    private final Tensor[] inputs;
    private final String[] outputNames;
    private final MemorySegment output;

    /** @param output where every output goes, one after the other */
    PreparedRequest(List<Tensor> inputs, List<String> outputNames, MemorySegment output) {
        this.inputs = inputs.toArray(Tensor[]::new);
        this.outputNames = outputNames.toArray(String[]::new);
        this.output = output;
    }

    @Override
    public int inputCount() {
        return inputs.length;
    }

    @Override
    public Tensor input(int index) {
        return inputs[index];
    }

    @Override
    public int outputCount() {
        return outputNames.length;
    }

    @Override
    public String outputName(int index) {
        return outputNames[index];
    }

    @Override
    public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
        return output;
    }

    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        throw new IllegalStateException("no output of the models that are measured is an input");
    }

    @Override
    public void inferStarted() {}

    @Override
    public void inferEnded() {}
}
