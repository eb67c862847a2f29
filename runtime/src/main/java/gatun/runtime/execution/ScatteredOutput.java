// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.SideBySide;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.RequestedOutput;
import gatun.runtime.execution.BatchTensors.ScatterRule;
import gatun.runtime.execution.RequestTensors.RegionLeases;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One output of a batch, shared out among the requests: a piece of the batch's buffer where it goes to the network,
 * else the request's own window. A request whose window does not suit fails alone. Used by the instance's thread only.
 */
final class ScatteredOutput {
    private final OutputRule rule;
    private final ModelSignature signature;
    private final BufferPool pool;
    private final List<PendingInference> requests;
    private final List<MemorySegment> windows = new ArrayList<>();
    private final @Nullable ScatterRule scatter;
    private @Nullable Shape shape;
    private @Nullable MemorySegment bytes;
    private @Nullable SharedHolds buffer;
    private boolean inWindows;
    private boolean inDevice;
    private int fromInput = -1;

    // The spec of the output for requests of as many rows as the last one.
    private int rows = -1;
    private @Nullable Shape rowsShape;
    private @Nullable TensorSpec rowsSpec;

    /** @param requests the requests of each run, in their order; changed by its owner between runs */
    ScatteredOutput(OutputRule rule, ModelSignature signature, BufferPool pool, List<PendingInference> requests) {
        this.rule = rule;
        this.signature = signature;
        this.pool = pool;
        this.requests = requests;
        BatchTensors batchTensors = signature.batchTensors();
        scatter = batchTensors == null ? null : batchTensors.scattered(rule.name());
    }

    /** Memory for a whole output: the requests' windows where they are exactly that, else a pooled buffer. */
    MemorySegment memory(Shape wholeShape, long byteSize) {
        close();
        shape = wholeShape;
        Optional<MemorySegment> windows = windows(byteSize, rowByteSize(wholeShape));
        if (windows.isPresent()) {
            inWindows = true;
            bytes = windows.get();
            return windows.get();
        }
        Buffer taken = pool.take(byteSize);
        buffer = new SharedHolds(List.of(taken));
        bytes = taken.segment();
        return taken.segment();
    }

    /** Whether all requests that want this output want it as it is, in memory of the GPU of {@code transfers}. */
    boolean isForDevice(DeviceTransfers transfers) {
        if (scatter != null || rule.datatype() == Datatype.BYTES) {
            return false;
        }
        boolean wanted = false;
        for (PendingInference pending : requests) {
            int index = pending.tensors().indexOf(rule);
            if (index >= 0) {
                RequestedOutput output = pending.tensors().requestedOutput(index);
                if (output.classification() > 0
                        || !transfers.isOn(output.destination().flatMap(RegionLease::device))) {
                    return false;
                }
                wanted = true;
            }
        }
        return wanted;
    }

    /** GPU memory for a whole output: the requests' windows if they are just that, else a copy for each. */
    DeviceMemory deviceMemory(Shape wholeShape, long byteSize, DeviceTransfers transfers) {
        close();
        shape = wholeShape;
        inDevice = true;
        return DeviceBatch.share(parts(wholeShape, byteSize), byteSize, rule.isCopied(), transfers);
    }

    /** Where each request's part belongs; a request whose window does not suit fails alone. */
    private List<DeviceBatch.Part> parts(Shape wholeShape, long byteSize) {
        long rowByteSize = rowByteSize(wholeShape);
        List<DeviceBatch.Part> parts = new ArrayList<>(requests.size());
        for (PendingInference pending : requests) {
            int index = pending.tensors().indexOf(rule);
            long own = signature.batching() ? rowByteSize * pending.size() : byteSize;
            Optional<DeviceMemory> window = index < 0
                    ? Optional.empty()
                    : pending.tensors()
                            .requestedOutput(index)
                            .destination()
                            .flatMap(RegionLease::device)
                            .filter(whole -> whole.byteSize() >= own)
                            .map(whole -> whole.slice(0, own));
            parts.add(new DeviceBatch.Part(own, window));
        }
        return parts;
    }

    /** Gives each request its own input as this output. */
    void fromInput(int input, Shape wholeShape) {
        close();
        shape = wholeShape;
        fromInput = input;
    }

    /** The bytes of one row; negative where rows differ in size, meaningless for an output cut otherwise. */
    private long rowByteSize(Shape wholeShape) {
        if (rule.datatype() == Datatype.BYTES) {
            return -1;
        }
        return scatter == null ? ownShape(wholeShape, 1).byteSize(rule.datatype()) : 0;
    }

    private Optional<MemorySegment> windows(long byteSize, long rowByteSize) {
        try {
            return rowByteSize < 0 ? Optional.empty() : joinedWindows(byteSize, rowByteSize);
        } finally {
            windows.clear();
        }
    }

    private Optional<MemorySegment> joinedWindows(long byteSize, long rowByteSize) {
        long total = 0;
        for (PendingInference pending : requests) {
            int index = pending.tensors().indexOf(rule);
            Optional<RegionLease> destination = index < 0
                    ? Optional.empty()
                    : pending.tensors().requestedOutput(index).destination();
            long piece = scatter == null
                    ? rowByteSize * pending.size()
                    : scattered(scatter, pending).byteSize(rule.datatype());
            if (piece < 0
                    || destination.isEmpty()
                    || pending.tensors().mustStage(index)
                    || pending.tensors().requestedOutput(index).classification() > 0
                    || destination.get().segment().byteSize() < piece) {
                return Optional.empty();
            }
            windows.add(destination.get().segment().asSlice(0, piece));
            total += piece;
        }
        return total == byteSize ? SideBySide.join(windows) : Optional.empty();
    }

    boolean isMade() {
        return shape != null;
    }

    /** Gives each request that wants this output its own rows. */
    void shareOut() {
        Shape whole = shape;
        if (whole == null && isLeftOut()) {
            return;
        }
        if (whole == null) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "the backend gave no output '" + rule.name() + "' of model '" + signature.modelName() + "'");
        }
        if (scatter != null) {
            checkScattered(scatter, whole);
        }
        long at = 0;
        for (PendingInference pending : requests) {
            Shape own = scatter == null ? rowsShape(whole, pending.batchSize()) : scattered(scatter, pending);
            if (inDevice) {
                answerOnDevice(pending, own);
                continue;
            }
            MemorySegment piece;
            if (fromInput >= 0) {
                piece = pending.tensors().input(fromInput).bytes();
            } else {
                long byteSize = pieceByteSize(own, at);
                piece = bytes().asSlice(at, byteSize);
                at += byteSize;
            }
            int index = pending.tensors().indexOf(rule);
            if (index >= 0 && pending.takesOutputs() && !pending.leavesOut(index)) {
                answer(pending, index, own, piece);
            }
        }
    }

    private boolean isLeftOut() {
        for (PendingInference pending : requests) {
            int index = pending.tensors().indexOf(rule);
            if (index >= 0 && pending.takesOutputs() && !pending.leavesOut(index)) {
                return false;
            }
        }
        return true;
    }

    /** As {@link #ownShape}; the same object for requests that follow one another and have as many rows. */
    private Shape rowsShape(Shape whole, int wanted) {
        Shape shared = rowsShape;
        if (shared == null || rows != wanted) {
            shared = ownShape(whole, wanted);
            rows = wanted;
            rowsShape = shared;
            rowsSpec = null;
        }
        return shared;
    }

    /** The spec that a request gets for an output of the shape {@code own}. */
    @SuppressWarnings("ReferenceEquality") // only rowsShape() makes such as are worth keeping
    private TensorSpec spec(Shape own) {
        if (own != rowsShape) {
            return rule.answered(rule.datatype(), own, signature);
        }
        TensorSpec shared = rowsSpec;
        if (shared == null) {
            shared = rule.answered(rule.datatype(), own, signature);
            rowsSpec = shared;
        }
        return shared;
    }

    /** The shape of some of the rows, or of everything where the model has no batch dimension. */
    private Shape ownShape(Shape whole, int count) {
        return signature.batching() ? whole.withFirst(count) : whole;
    }

    private Shape scattered(ScatterRule by, PendingInference pending) {
        int source = pending.tensors().inputIndex(by.sourceInput());
        if (source < 0) {
            throw GatunException.invalidArgument("input '" + by.sourceInput() + "' must be given: output '"
                    + rule.name() + "' of model '" + signature.modelName() + "' is cut by its shape");
        }
        return by.piece(pending.tensors().input(source).spec().shape());
    }

    /** Checks that no request gets elements that are not there, or that belong to another. */
    private void checkScattered(ScatterRule by, Shape whole) {
        long left = whole.elementCount();
        for (PendingInference pending : requests) {
            long own = scattered(by, pending).elementCount();
            boolean suits = fromInput < 0
                    || own == pending.tensors().input(fromInput).spec().shape().elementCount();
            left = own >= 0 && own <= left && suits ? left - own : -1;
        }
        if (left < 0) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "output '" + rule.name() + "' of model '" + signature.modelName() + "' has shape " + whole
                            + ", too small to be cut by the shapes of input '" + by.sourceInput() + "'");
        }
    }

    private MemorySegment bytes() {
        MemorySegment present = bytes;
        if (present == null) {
            throw new AssertionError("an output has a shape and no bytes");
        }
        return present;
    }

    /** The bytes of {@code own}, whose elements begin at {@code at}. */
    private long pieceByteSize(Shape own, long at) {
        if (rule.datatype() != Datatype.BYTES) {
            return own.byteSize(rule.datatype());
        }
        return BytesCodec.skip(bytes(), at, own.elementCount()) - at;
    }

    private void answer(PendingInference pending, int index, Shape own, MemorySegment piece) {
        try {
            TensorSpec spec = spec(own);
            Optional<RegionLease> destination =
                    pending.tensors().requestedOutput(index).destination();
            if (destination.isPresent()) {
                MemorySegment window = RequestErrors.window(spec.name(), destination.get(), piece.byteSize());
                OutputTensor result = new OutputTensor(new Tensor(spec, window), true);
                if (inWindows) {
                    pending.result(index, result, null);
                } else {
                    pending.stage(index, result, piece, buffer == null ? null : buffer.share());
                }
            } else if (fromInput >= 0) {
                answerWithInput(pending, index, spec, piece);
            } else if (buffer != null) {
                pending.result(index, new OutputTensor(new Tensor(spec, piece), false), buffer.share());
            }
            classify(pending, index);
        } catch (GatunException e) {
            pending.fail(e);
        }
    }

    private void answerOnDevice(PendingInference pending, Shape own) {
        int index = pending.tensors().indexOf(rule);
        if (index < 0 || !pending.takesOutputs()) {
            return;
        }
        try {
            TensorSpec spec = spec(own);
            RegionLease destination =
                    pending.tensors().requestedOutput(index).destination().orElseThrow();
            long byteSize = own.byteSize(rule.datatype());
            RequestErrors.requireRoom(spec.name(), destination, byteSize);
            pending.result(index, new OutputTensor(Tensor.inRegion(spec, destination, byteSize), true), null);
        } catch (GatunException e) {
            pending.fail(e);
        }
    }

    private void classify(PendingInference pending, int index) {
        OutputTensor scores = pending.result(index);
        if (scores != null && pending.tensors().requestedOutput(index).classification() > 0) {
            Classification.apply(pending, index, scores, signature.leadingDims(), pool);
        }
    }

    private void answerWithInput(PendingInference pending, int index, TensorSpec spec, MemorySegment piece) {
        if (RegionLeases.isNoneIn(pending.request().holds())) {
            pending.result(index, new OutputTensor(new Tensor(spec, piece), false), null);
            pending.showInputs();
        } else {
            Buffer copy = pool.copyOf(piece);
            pending.result(index, new OutputTensor(new Tensor(spec, copy.segment()), false), copy);
        }
    }

    /** Lets go of the batch's memory; the requests keep what was shared out to them. */
    void close() {
        SharedHolds own = buffer;
        buffer = null;
        bytes = null;
        shape = null;
        inWindows = false;
        inDevice = false;
        fromInput = -1;
        rows = -1;
        rowsShape = null;
        rowsSpec = null;
        if (own != null) {
            own.release();
        }
    }
}
