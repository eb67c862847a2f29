// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.spi.BackendInstance;
import gatun.spi.Execution;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Runs a model with arguments of its own. Inputs are read where they lie, unless the model writes to them; outputs are
 * copied once from PyTorch's memory to where they belong. A run cannot be stopped.
 */
final class TorchInstance implements BackendInstance {
    private static final long ALIGNMENT = 64;
    private static final int UNKNOWN = -1;

    private final TorchModel model;
    private final boolean isBound;
    private final int inputCount;

    /** Shared, since short runs come on the requests' threads. */
    private final Arena arena = Arena.ofShared();

    private final AtenTensors tensors = new AtenTensors(arena);
    private final MemorySegment inputs;
    private final MemorySegment outputs;
    private final Run run;

    // Of the run under way: by the model's positions, and room for what the checks work with.
    private final Tensor[] given;
    private final Shape[] shapes;
    private final long[] sizes;

    /** How many dimensions each output has, which compiled code decides; {@link #UNKNOWN} until it has been seen. */
    private final int[] ranks;

    TorchInstance(TorchModel model, boolean isBound) {
        this.model = model;
        this.isBound = isBound;
        inputCount = model.loaded().inputNames().size();
        int outputCount = model.loaded().outputNames().size();
        inputs = arena.allocate(ValueLayout.ADDRESS, Math.max(1, inputCount));
        outputs = arena.allocate(ValueLayout.ADDRESS, Math.max(1, outputCount));
        run = new Run(inputs, inputCount, outputs, outputCount);
        ranks = new int[outputCount];
        Arrays.fill(ranks, UNKNOWN);
        given = new Tensor[inputCount];
        shapes = new Shape[inputCount];
        sizes = new long[model.rules().map(ShapeRules::symbolCount).orElse(0)];
    }

    @Override
    public boolean isBoundToThread() {
        return isBound;
    }

    @Override
    public void execute(Execution execution) {
        take(execution);
        // Only for inputs that must not be touched: others have none.
        Arena copies = null;
        try (run) {
            for (int i = 0; i < inputCount; i++) {
                Tensor tensor = given[i];
                MemorySegment bytes = tensor.bytes();
                if (model.isChanged(i)
                        || bytes.address() % alignment(tensor.spec().datatype()) != 0) {
                    copies = copies == null ? Arena.ofShared() : copies;
                    bytes = copies.allocate(Math.max(1, bytes.byteSize()), ALIGNMENT)
                            .copyFrom(bytes);
                }
                inputs.setAtIndex(
                        ValueLayout.ADDRESS,
                        i,
                        tensors.around(bytes, tensor.spec().datatype(), shapes[i]));
            }
            execution.inferStarted();
            run.start(model.loaded().container());
            execution.inferEnded();
            for (int i = 0; i < execution.outputCount(); i++) {
                place(i, execution);
            }
        } finally {
            if (copies != null) {
                copies.close();
            }
        }
    }

    /** Sorts the inputs of a run, and checks them. */
    private void take(Execution execution) {
        int count = execution.inputCount();
        if (count != inputCount) {
            throw GatunException.invalidArgument("the request has " + count + " of the model's " + inputCount
                    + " inputs; PyTorch's models have no optional ones");
        }
        for (int i = 0; i < count; i++) {
            Tensor tensor = execution.input(i);
            int position = model.inputPosition(tensor.spec().name());
            given[position] = tensor;
            shapes[position] = tensor.spec().shape();
        }
        if (model.rules().isPresent()) {
            model.rules().get().check(shapes, sizes);
        }
    }

    private static long alignment(Datatype datatype) {
        return Math.max(1, datatype.byteSize());
    }

    /** Copies an output to where it belongs. */
    private void place(int index, Execution execution) {
        String name = execution.outputName(index);
        int position = model.outputPosition(name);
        MemorySegment tensor = outputs.getAtIndex(ValueLayout.ADDRESS, position);
        Datatype datatype = model.outputDatatype(name);
        if (ranks[position] == UNKNOWN) {
            check(name, tensors.datatype(tensor), datatype);
            ranks[position] = tensors.rank(tensor);
        }
        Shape shape = tensors.shape(tensor, ranks[position]);
        tensors.copy(tensor, datatype, shape, execution.output(index, datatype, shape, shape.byteSize(datatype)));
    }

    private static void check(String name, Datatype datatype, Datatype configured) {
        if (datatype != configured) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "output '" + name + "' of the model is "
                            + (datatype == Datatype.INVALID ? "of a type that no protocol can carry" : datatype)
                            + ", its configuration says " + configured + "; correct data_type there");
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
