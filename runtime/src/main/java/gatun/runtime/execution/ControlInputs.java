// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.scheduling.SequenceStep;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The inputs that tell a model of sequences what each row is: start, end, ready, correlation id. Used by the instance's
 * thread only.
 */
final class ControlInputs implements InputGroup {
    private final Run run;
    private final List<SequenceControl> controls;
    private final boolean batching;
    private final List<Optional<SequenceStep>> rows;
    private final @Nullable Tensor[] written;

    /**
     * @param batching whether the model has a batch dimension
     * @param rows the steps of each run, empty for a gap; changed by its owner between runs
     */
    ControlInputs(Run run, List<SequenceControl> controls, boolean batching, List<Optional<SequenceStep>> rows) {
        this.run = run;
        this.controls = controls;
        this.batching = batching;
        this.rows = rows;
        written = new Tensor[controls.size()];
    }

    @Override
    public int count() {
        return written.length;
    }

    @Override
    public TensorSpec spec(int index) {
        SequenceControl control = controls.get(index);
        return new TensorSpec(control.name(), control.datatype(), batching ? Shape.of(rows.size(), 1) : Shape.of(1));
    }

    @Override
    public Tensor tensor(int index) {
        Tensor known = written[index];
        if (known == null) {
            known = new Tensor(spec(index), write(controls.get(index)));
            written[index] = known;
        }
        return known;
    }

    private MemorySegment write(SequenceControl control) {
        long byteSize = 0;
        for (Optional<SequenceStep> row : rows) {
            byteSize += control.rowByteSize(row);
        }
        MemorySegment bytes = run.takeForRun(byteSize).segment();
        long at = 0;
        for (Optional<SequenceStep> row : rows) {
            at = control.writeRow(row, bytes, at);
        }
        return bytes;
    }

    @Override
    public void clear() {
        Arrays.fill(written, null);
    }
}
