// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.SideBySide;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The inputs of a batch, one tensor of all rows each, copied only if needed. Used by the instance's thread only. */
final class GatheredInputs implements InputGroup {
    private final Run run;
    private final List<PendingInference> requests;
    private final List<MemorySegment> pieces = new ArrayList<>();
    private ModelSignature signature;
    private @Nullable Tensor[] gathered = {};
    private int rows;
    private int runRows;

    /** @param requests the requests of each run, in their order; changed by its owner between runs */
    GatheredInputs(Run run, ModelSignature signature, List<PendingInference> requests) {
        this.run = run;
        this.signature = signature;
        this.requests = requests;
    }

    void begin(ModelSignature entryPoint) {
        signature = entryPoint;
        int count = requests.getFirst().tensors().inputCount();
        if (gathered.length != count) {
            gathered = new Tensor[count];
        }
        rows = 0;
        for (PendingInference pending : requests) {
            rows += pending.batchSize();
        }
        runRows = signature.runSize(rows);
    }

    /** The rows of the batch: the sum of its requests' batch sizes. */
    int rows() {
        return rows;
    }

    int runRows() {
        return runRows;
    }

    @Override
    public int count() {
        return gathered.length;
    }

    @Override
    public TensorSpec spec(int index) {
        TensorSpec first = requests.getFirst().tensors().input(index).spec();
        if (!signature.batching()) {
            return first;
        }
        return new TensorSpec(first.name(), first.datatype(), shape(index, first));
    }

    private Shape shape(int index, TensorSpec first) {
        BatchTensors batchTensors = signature.batchTensors();
        if (batchTensors != null && batchTensors.isRagged(first.name())) {
            return Shape.of(elementCount(index));
        }
        return signature.padsShapes()
                ? PaddedInput.shape(pieces(index), runRows)
                : first.shape().withFirst(runRows);
    }

    private long elementCount(int index) {
        long count = 0;
        for (PendingInference pending : requests) {
            count += pending.tensors().input(index).spec().shape().elementCount();
        }
        return count;
    }

    @Override
    public Tensor tensor(int index) {
        Tensor known = gathered[index];
        if (known == null) {
            known = new Tensor(spec(index), gather(index));
            gathered[index] = known;
        }
        return known;
    }

    /** As {@link #tensor}, on the GPU of {@code transfers}. */
    DeviceMemory onDevice(int index, DeviceTransfers transfers) {
        return isPadded(index)
                ? transfers.bring(tensor(index))
                : DeviceBatch.gather(
                        pieces(index), requests.getFirst().tensors().isCopied(index), transfers);
    }

    private List<Tensor> pieces(int index) {
        return requests.stream().map(pending -> pending.tensors().input(index)).toList();
    }

    /** Whether the backend gets more as an input than the requests bring. */
    boolean isPadded(int index) {
        if (runRows != rows) {
            return true;
        }
        if (!signature.padsShapes()) {
            return false;
        }
        Shape shape = spec(index).shape();
        return !requests.stream()
                .allMatch(
                        pending -> pending.tensors().input(index).spec().shape().equalsAfterFirst(shape));
    }

    private MemorySegment gather(int index) {
        if (isPadded(index)) {
            PaddedInput padded = new PaddedInput(pieces(index), spec(index).shape());
            Buffer buffer = run.takeForRun(padded.byteSize());
            padded.write(buffer.segment());
            return buffer.segment();
        }
        long byteSize = 0;
        boolean inPlace = true;
        for (PendingInference pending : requests) {
            MemorySegment piece = pending.tensors().input(index).bytes();
            pieces.add(piece);
            byteSize += piece.byteSize();
            inPlace &= !pending.tensors().mustCopy(index);
        }
        try {
            Optional<MemorySegment> joined = inPlace ? SideBySide.join(pieces) : Optional.empty();
            return joined.isPresent() ? joined.get() : copy(byteSize);
        } finally {
            pieces.clear();
        }
    }

    private MemorySegment copy(long byteSize) {
        MemorySegment target = run.takeForRun(byteSize).segment();
        long at = 0;
        for (MemorySegment piece : pieces) {
            TensorCopy.copy(piece, target.asSlice(at, piece.byteSize()));
            at += piece.byteSize();
        }
        return target;
    }

    @Override
    public void clear() {
        Arrays.fill(gathered, null);
        rows = 0;
        runRows = 0;
    }

    /**
     * One padded tensor of those that a run's requests bring as one input. Dimensions but the first are filled up with
     * zeros or empty strings; missing rows are copies of the last tensor's first row. Used once, by one thread.
     */
    static final class PaddedInput {
        private final List<Tensor> pieces;
        private final Shape whole;
        private final Datatype datatype;
        private final int unit;

        // Where the next element is read and written.
        private MemorySegment source = MemorySegment.NULL;
        private MemorySegment target = MemorySegment.NULL;
        private long from;
        private long to;

        /** @param tensors of one rank, with rows, and in no dimension larger than {@code whole} */
        PaddedInput(List<Tensor> tensors, Shape whole) {
            this.whole = whole;
            pieces = new ArrayList<>(tensors);
            TensorSpec spec = tensors.getFirst().spec();
            datatype = spec.datatype();
            unit = datatype == Datatype.BYTES ? BytesCodec.LENGTH_BYTES : datatype.byteSize();
            long rows = whole.dim(0);
            for (Tensor tensor : tensors) {
                rows -= tensor.spec().shape().dim(0);
            }
            Tensor first = firstRow(tensors.getLast());
            for (; rows > 0; rows--) {
                pieces.add(first);
            }
        }

        static Shape shape(List<Tensor> tensors, int rows) {
            long[] dims = tensors.getFirst().spec().shape().toArray();
            for (Tensor tensor : tensors) {
                Shape shape = tensor.spec().shape();
                for (int i = 1; i < dims.length; i++) {
                    dims[i] = Math.max(dims[i], shape.dim(i));
                }
            }
            dims[0] = rows;
            return Shape.of(dims);
        }

        private Tensor firstRow(Tensor tensor) {
            TensorSpec spec = tensor.spec();
            Shape shape = spec.shape().withFirst(1);
            long byteSize = byteSize(tensor.bytes(), 0, shape.elementCount());
            return tensor.slice(new TensorSpec(spec.name(), datatype, shape), 0, byteSize);
        }

        private long byteSize(MemorySegment bytes, long start, long count) {
            if (datatype != Datatype.BYTES) {
                return count * unit;
            }
            return BytesCodec.skip(bytes, start, count) - start;
        }

        long byteSize() {
            long missing = whole.elementCount();
            long present = 0;
            for (Tensor piece : pieces) {
                missing -= piece.spec().shape().elementCount();
                present += piece.byteSize();
            }
            return present + missing * unit;
        }

        void write(MemorySegment memory) {
            target = memory;
            to = 0;
            for (Tensor piece : pieces) {
                source = piece.bytes();
                from = 0;
                Shape own = piece.spec().shape();
                if (own.equalsAfterFirst(whole)) {
                    copy(own.elementCount());
                } else {
                    for (long row = own.dim(0); row > 0; row--) {
                        write(own, 1);
                    }
                }
            }
        }

        /** Writes one block of the dimensions from {@code dim} on. */
        private void write(Shape own, int dim) {
            if (dim == own.rank()) {
                copy(1);
                return;
            }
            if (dim == own.rank() - 1) {
                copy(own.dim(dim));
            } else {
                for (long i = own.dim(dim); i > 0; i--) {
                    write(own, dim + 1);
                }
            }
            long below = 1;
            for (int i = dim + 1; i < whole.rank(); i++) {
                below *= whole.dim(i);
            }
            fill((whole.dim(dim) - own.dim(dim)) * below);
        }

        private void copy(long count) {
            long byteSize = byteSize(source, from, count);
            TensorCopy.copy(source.asSlice(from, byteSize), target.asSlice(to, byteSize));
            from += byteSize;
            to += byteSize;
        }

        /** Zeros, or as many empty strings: both are bytes of zero. */
        private void fill(long count) {
            target.asSlice(to, count * unit).fill((byte) 0);
            to += count * unit;
        }
    }
}
