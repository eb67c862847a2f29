// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.DataSet.Step;
import gatun.bench.data.ExpectedOutputs;
import gatun.client.InferRequest;
import gatun.client.SharedTensors;
import gatun.memory.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Requests whose tensors lie in memory that the server shares. Owns that memory. For one thread. */
final class SharedRequests implements RequestSource {
    private final SharedTensors tensors;
    private final RequestPlan plan;
    private final long outputByteSize;
    private int written = -1;
    private long sequence;

    SharedRequests(SharedTensors tensors, RequestPlan plan, long outputByteSize) {
        this.tensors = tensors;
        this.plan = plan;
        this.outputByteSize = outputByteSize;
    }

    @Override
    public InferRequest prepare(int index, StepCursor cursor) {
        write(index, cursor);
        return tensors.request();
    }

    /** Writes the inputs of the cursor's step, unless they are there already. */
    void write(int index, StepCursor cursor) {
        sequence = cursor.sequence();
        if (written == index) {
            return;
        }
        for (Tensor input : cursor.step().inputs()) {
            tensors.write(input.spec().name(), input.bytes());
        }
        written = index;
    }

    /** Makes the request of {@code step}. */
    void infer(Step step) {
        if (plan.inSequences()) {
            tensors.infer(request -> request.sequence(sequence, step.start(), step.end()));
        } else {
            tensors.infer();
        }
    }

    /**
     * The first difference between the outputs of the last response and the expected ones, as text; empty when there is
     * none.
     */
    String differences(ExpectedOutputs expected) {
        if (expected.isNothing()) {
            return "";
        }
        List<Tensor> outputs = new ArrayList<>();
        for (Tensor wanted : expected.outputs()) {
            // A copy, since that of a GPU cannot be looked at.
            String name = wanted.spec().name();
            outputs.add(new Tensor(tensors.outputSpec(name), MemorySegment.ofArray(tensors.bytes(name))));
        }
        return expected.differences(outputs);
    }

    @Override
    public long sharedOutputByteSize() {
        return outputByteSize;
    }

    @Override
    public void close() {
        tensors.close();
    }
}
