// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.backend.cuda.TensorTable.Entry;
import gatun.backend.cuda.TensorTable.Kind;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A run's tensor sizes and addresses, reused for equal shapes. Used by the instance's thread only. */
final class RunSizes {
    private static final int ABSENT = -1;
    private static final long MAX_SCRATCH_BYTES = 1L << 50;

    private final ModelPlan plan;
    private final Entry[] inputs;
    private final Entry[] outputs;
    private final int firstScratch;
    private final Sizes sizes;

    /** For each output the shape that the run before had; null before the first. */
    private final @Nullable Shape[] shapes;

    private final int[] indexes;

    RunSizes(ModelPlan plan) {
        this.plan = plan;
        inputs = plan.tensors().all(Kind.INPUT).toArray(Entry[]::new);
        outputs = plan.tensors().all(Kind.OUTPUT).toArray(Entry[]::new);
        firstScratch = inputs.length + outputs.length;
        sizes = new Sizes(plan.tensors().size());
        shapes = new Shape[outputs.length];
        indexes = new int[inputs.length];
    }

    Sizes sizes() {
        return sizes;
    }

    /** Computes the sizes of all tensors of a run. Throws INVALID_ARGUMENT when one cannot be, with nothing done. */
    void compute(Execution execution) {
        for (int i = 0; i < inputs.length; i++) {
            Entry input = inputs[i];
            indexes[i] = index(execution, input.name(), i);
            TensorSpec spec = execution.inputSpec(indexes[i]);
            if (!sizes.shape(input.number(), input.datatype(), spec.shape())) {
                throw tooLarge("input", input, spec.shape());
            }
        }
        sizes.batch(plan.batching() ? rows(execution) : 1);
        for (int i = 0; i < outputs.length; i++) {
            Entry output = outputs[i];
            Shape shape = shape(i, output);
            shapes[i] = shape;
            if (!sizes.shape(output.number(), output.datatype(), shape)) {
                throw tooLarge("output", output, shape);
            }
        }
        for (int i = 0; i < plan.scratchBytes().size(); i++) {
            sizes.byteSize(firstScratch + i, plan.scratchBytes().get(i).value(sizes, 1, MAX_SCRATCH_BYTES));
        }
    }

    private static int index(Execution execution, String name, int guess) {
        // Mostly they come in the configuration's order.
        if (guess < execution.inputCount() && execution.inputSpec(guess).name().equals(name)) {
            return guess;
        }
        int index = execution.inputIndex(name);
        if (index >= 0) {
            return index;
        }
        throw GatunException.invalidArgument("the request leaves input '" + name + "' out, which the kernels need");
    }

    private long rows(Execution execution) {
        for (int i = 0; i < inputs.length; i++) {
            if (inputs[i].shape().isPresent()) {
                return sizes.shape(inputs[i].number()).dim(0);
            }
        }
        // Of ragged inputs, whose rows lie one behind the other, nothing tells.
        long rows = 0;
        List<ExecutionRequest> requests = execution.requests();
        for (int i = 0; i < requests.size(); i++) {
            rows += requests.get(i).batchSize();
        }
        return rows;
    }

    private Shape shape(int index, Entry output) {
        List<Formula> dims = plan.outputShapes().get(index);
        Shape configured = output.shape().orElseThrow();
        Shape last = shapes[index];
        boolean same = last != null;
        for (int d = 0; d < dims.size(); d++) {
            long dim = dims.get(d).value(sizes, 0, Long.MAX_VALUE);
            boolean ofBatch = plan.batching() && d == 0;
            long expected = ofBatch ? sizes.batch() : configured.dim(d);
            if (expected != Shape.VARIABLE && dim != expected) {
                throw GatunException.invalidArgument("'" + dims.get(d).text() + "' of the model's parameter '"
                        + dims.get(d).parameter() + "' is " + dim + " for the tensors of this request, expected "
                        + expected
                        + (ofBatch ? ", the number of rows" : ", as the configuration's dims say"));
            }
            same = same && last.dim(d) == dim;
        }
        if (same) {
            return last;
        }
        long[] made = new long[dims.size()];
        for (int d = 0; d < made.length; d++) {
            made[d] = dims.get(d).value(sizes);
        }
        return Shape.of(made);
    }

    private static GatunException tooLarge(String kind, Entry tensor, Shape shape) {
        return GatunException.invalidArgument(kind + " '" + tensor.name() + "' would have shape " + shape + ", whose "
                + tensor.datatype() + " elements have more than 2^63 - 1 bytes");
    }

    /** Puts tensors on the GPU, or finds them there. Addresses are by tensors' numbers. Throws if memory is short. */
    void place(Execution execution, DeviceTransfers run, long[] addresses) {
        for (int i = 0; i < inputs.length; i++) {
            addresses[inputs[i].number()] = execution.input(indexes[i], run).address();
        }
        for (int i = 0; i < outputs.length; i++) {
            Entry output = outputs[i];
            long bytes = sizes.byteSize(output.number());
            int wanted = wanted(execution, output.name(), i);
            addresses[output.number()] = wanted == ABSENT
                    ? run.take(Math.max(1, bytes)).address()
                    : execution
                            .output(wanted, output.datatype(), sizes.shape(output.number()), bytes, run)
                            .address();
        }
        for (int i = 0; i < plan.scratchBytes().size(); i++) {
            addresses[firstScratch + i] =
                    run.take(sizes.byteSize(firstScratch + i)).address();
        }
    }

    /** The index of an output in the run; {@link #ABSENT} when nobody wants it, which the kernels do not know. */
    private static int wanted(Execution execution, String name, int guess) {
        int count = execution.outputCount();
        if (guess < count && execution.outputName(guess).equals(name)) {
            return guess;
        }
        for (int i = 0; i < count; i++) {
            if (execution.outputName(i).equals(name)) {
                return i;
            }
        }
        return ABSENT;
    }
}
