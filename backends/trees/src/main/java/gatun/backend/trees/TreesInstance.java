// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.backend.trees.Forest.ForestOutput;
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
import java.util.List;

/**
 * Asks a forest about rows where they lie. A large run is made in parts: what the library computes beside the outputs
 * takes bounded memory, and a run that nobody waits for ends after one.
 */
final class TreesInstance implements BackendInstance {
    /** The most rows of a part, some tens of milliseconds for a thousand trees. */
    private static final int PART_ROWS = 4096;

    /** The most bytes that a part's rows or the library's numbers for it take, unless a single row has more. */
    private static final long PART_BYTES = 4L << 20;

    private final Predictor predictor;
    private final List<ForestOutput> outputs;
    private final int features;
    private final long partRows;
    private final boolean isBound;

    /** For rows that lie where the libraries do not read floats. */
    private final Scratch alignedRows = new Scratch();

    // Where the outputs of the run under way go, and which they are.
    private final MemorySegment[] targets;
    private final ForestOutput[] wanted;

    /** Whether nobody waits for the run under way. */
    private volatile boolean stopped;

    TreesInstance(Forest forest, List<ForestOutput> outputs, int threads, boolean isOnly) {
        this.outputs = outputs;
        features = forest.features();
        int columns = outputs.stream()
                .mapToInt(output -> output.form().columns())
                .max()
                .orElse(1);
        partRows = Math.clamp(PART_BYTES / ((long) Math.max(columns, features) * Double.BYTES), 1, PART_ROWS);
        // Each thread that comes with work has a team of the library's threads, which stays with it.
        isBound = threads > 1;
        targets = new MemorySegment[outputs.size()];
        Arrays.fill(targets, MemorySegment.NULL);
        wanted = new ForestOutput[outputs.size()];
        predictor = forest.newPredictor(isOnly);
    }

    @Override
    public boolean isBoundToThread() {
        return isBound;
    }

    @Override
    public void stop() {
        stopped = true;
    }

    @Override
    public void execute(Execution execution) {
        if (stopped) {
            stopped = false; // Only then: to write it takes longer than to read it.
        }
        Tensor input = execution.input(0);
        long rows = rows(input.spec().shape());
        int count = execution.outputCount();
        try {
            for (int i = 0; i < count; i++) {
                ForestOutput output = output(execution.outputName(i));
                wanted[i] = output;
                targets[i] =
                        execution.output(i, output.form().datatype(), output.shape(rows), rows * output.rowByteSize());
            }
            execution.inferStarted();
            for (long first = 0; first < rows; first += partRows) {
                runPart(input, first, Math.min(partRows, rows - first), count);
            }
            execution.inferEnded();
        } finally {
            Arrays.fill(targets, MemorySegment.NULL);
        }
    }

    private long rows(Shape shape) {
        if (shape.rank() != 2 || shape.dim(1) != features) {
            throw GatunException.invalidArgument("input '" + ForestTensors.INPUT + "' has shape " + shape
                    + ", expected [rows," + features + "]: the model has " + features + " features");
        }
        return shape.dim(0);
    }

    private ForestOutput output(String name) {
        for (ForestOutput output : outputs) {
            if (output.quantity().output().equals(name)) {
                return output;
            }
        }
        throw new GatunException(ErrorCode.INTERNAL, "the model has no output '" + name + "'");
    }

    private void runPart(Tensor input, long first, long count, int outputCount) {
        Datatype datatype = input.spec().datatype();
        long rowByteSize = (long) features * datatype.byteSize();
        MemorySegment part = aligned(input.bytes().asSlice(first * rowByteSize, count * rowByteSize), datatype);
        for (int i = 0; i < outputCount; i++) {
            if (stopped) {
                throw new GatunException(ErrorCode.CANCELLED, "the request was cancelled while it ran");
            }
            OutputForm form = wanted[i].form();
            long outputByteSize = wanted[i].rowByteSize();
            MemorySegment target = targets[i].asSlice(first * outputByteSize, count * outputByteSize);
            MemorySegment numbers = predictor.predict(
                    wanted[i].quantity(),
                    part,
                    datatype,
                    count,
                    form.isAsGiven(predictor.datatype()) && isAligned(target, predictor.datatype())
                            ? target
                            : MemorySegment.NULL);
            if (numbers.address() != target.address()) {
                form.write(numbers, predictor.datatype(), count, target);
            }
        }
    }

    /** The same rows at an address that is a multiple of the size of an element. */
    private MemorySegment aligned(MemorySegment rows, Datatype datatype) {
        if (isAligned(rows, datatype)) {
            return rows;
        }
        MemorySegment copy = alignedRows.of(rows.byteSize());
        MemorySegment.copy(rows, 0, copy, 0, rows.byteSize());
        return copy;
    }

    private static boolean isAligned(MemorySegment bytes, Datatype datatype) {
        return (bytes.address() & (datatype.byteSize() - 1)) == 0;
    }

    @Override
    public void warmUp() {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment row = scratch.allocate(ValueLayout.JAVA_FLOAT, features);
            for (ForestOutput output : outputs) {
                predictor.predict(output.quantity(), row, Datatype.FP32, 1, MemorySegment.NULL);
            }
        }
    }

    @Override
    public void close() {
        predictor.close();
        alignedRows.close();
    }
}
