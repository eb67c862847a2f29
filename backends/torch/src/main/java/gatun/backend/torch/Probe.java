// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.EntryTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds out what a model's outputs are, which its package does not say: runs the model on zeros of two sizes, and sees
 * which dimensions differ. For one thread.
 */
final class Probe {
    /** The least sizes that are asked for: others may be special cases. */
    private static final long FIRST = 2;

    /** For models whose dimensions have a least size of their own. */
    private static final long MAX_BYTES = 1L << 30;

    private static final long ALIGNMENT = 64;

    private final LoadedPackage model;
    private final List<InputForm> forms;
    private final ShapeRules rules;

    private record Output(Datatype datatype, Shape shape) {}

    /** @param names what clients call the inputs */
    Probe(LoadedPackage model, List<InputForm> forms, List<String> names) {
        this.model = model;
        this.forms = forms;
        rules = new ShapeRules(forms, names);
    }

    /** What was found out: the outputs, and whether the first dimension of all tensors is that of a batch. */
    record Found(List<EntryTensor> outputs, boolean batches) {}

    /**
     * Runs the model twice.
     *
     * @param names what clients call the outputs
     * @throws GatunException when the model does not run on zeros
     */
    Found find(List<String> names) {
        long[] first = sizes(0);
        long[] second = sizes(1);
        List<Output> once = run(first);
        List<Output> again = run(second);
        int batch = rules.batchSymbol();
        boolean batches = batch >= 0 && first[batch] != second[batch];
        List<EntryTensor> outputs = new ArrayList<>();
        for (int i = 0; i < once.size(); i++) {
            Shape one = once.get(i).shape();
            Shape other = again.get(i).shape();
            Shape shape = common(one, other, names.get(i));
            outputs.add(EntryTensor.of(new TensorSpec(names.get(i), once.get(i).datatype(), shape)));
            batches = batches && shape.rank() > 0 && one.dim(0) == first[batch] && other.dim(0) == second[batch];
        }
        return new Found(outputs, batches);
    }

    private long[] sizes(int more) {
        long[] sizes = new long[rules.symbolCount()];
        for (int i = 0; i < sizes.length; i++) {
            // Each has its own, so that what must be equal is told from what happens to be.
            sizes[i] = Math.clamp(FIRST + 2L * i + more, rules.least(i), rules.most(i));
            if (rules.least(i) > FIRST + 2L * i) {
                sizes[i] = Math.min(rules.least(i) + more, rules.most(i));
            }
        }
        return sizes;
    }

    private static Shape common(Shape one, Shape other, String name) {
        if (one.rank() != other.rank()) {
            throw GatunException.invalidArgument(
                    "output '" + name + "' has now " + one.rank() + " dimensions, now " + other.rank());
        }
        long[] dims = one.toArray();
        for (int i = 0; i < dims.length; i++) {
            dims[i] = dims[i] == other.dim(i) ? dims[i] : Shape.VARIABLE;
        }
        return Shape.of(dims);
    }

    private List<Output> run(long[] sizes) {
        int inputCount = forms.size();
        int outputCount = model.outputNames().size();
        try (Arena arena = Arena.ofShared()) {
            AtenTensors tensors = new AtenTensors(arena);
            MemorySegment inputs = arena.allocate(ValueLayout.ADDRESS, Math.max(1, inputCount));
            MemorySegment outputs = arena.allocate(ValueLayout.ADDRESS, Math.max(1, outputCount));
            List<Shape> shapes = new ArrayList<>();
            long bytes = 0;
            for (int i = 0; i < inputCount; i++) {
                Shape shape = rules.shape(i, sizes);
                shapes.add(shape);
                long byteSize = shape.byteSize(forms.get(i).datatype());
                bytes = byteSize < 0 ? byteSize : Math.addExact(bytes, byteSize);
                if (bytes < 0 || bytes > MAX_BYTES) {
                    throw GatunException.invalidArgument(
                            "its inputs are too large to try it: input " + i + " has shape " + shape);
                }
            }
            for (int i = 0; i < inputCount; i++) {
                Datatype datatype = forms.get(i).datatype();
                MemorySegment zeros = arena.allocate(Math.max(1, shapes.get(i).byteSize(datatype)), ALIGNMENT);
                inputs.setAtIndex(ValueLayout.ADDRESS, i, tensors.around(zeros, datatype, shapes.get(i)));
            }
            return run(tensors, inputs, outputs);
        }
    }

    private List<Output> run(AtenTensors tensors, MemorySegment inputs, MemorySegment outputs) {
        int outputCount = model.outputNames().size();
        List<Output> found = new ArrayList<>();
        try (Run run = new Run(tensors, inputs, forms.size(), outputs, outputCount)) {
            run.start(model.container());
            for (int i = 0; i < outputCount; i++) {
                MemorySegment output = outputs.getAtIndex(ValueLayout.ADDRESS, i);
                found.add(new Output(tensors.datatype(output), tensors.shape(output)));
            }
        }
        return found;
    }
}
