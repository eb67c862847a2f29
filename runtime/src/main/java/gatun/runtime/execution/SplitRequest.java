// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A request with more rows than one run may have, in pieces that run by themselves. Used by the request's thread. */
final class SplitRequest {
    private final PendingInference whole;
    private final List<PendingInference> pieces = new ArrayList<>();

    /** @param most how many rows a piece may have */
    SplitRequest(PendingInference whole, int most) {
        this.whole = whole;
        int count = whole.tensors().inputCount();
        long[] starts = new long[count];
        for (int row = 0; row < whole.batchSize(); row += most) {
            int rows = Math.min(most, whole.batchSize() - row);
            Tensor[] inputs = new Tensor[count];
            for (int i = 0; i < count; i++) {
                inputs[i] = rows(whole.tensors().input(i), starts[i], rows);
                starts[i] += inputs[i].byteSize();
            }
            pieces.add(whole.piece(rows, inputs));
        }
    }

    private static Tensor rows(Tensor tensor, long start, int count) {
        TensorSpec spec = tensor.spec();
        Shape shape = spec.shape().withFirst(count);
        long byteSize = shape.byteSize(spec.datatype());
        if (spec.datatype() == Datatype.BYTES) {
            byteSize = BytesCodec.skip(tensor.bytes(), start, shape.elementCount()) - start;
        }
        TensorSpec own = new TensorSpec(spec.name(), spec.datatype(), shape);
        return tensor.slice(own, start, byteSize);
    }

    /** A request for each piece, in the order of the rows. */
    List<PendingInference> pieces() {
        return pieces;
    }

    /** One response of all pieces. Throws the first piece's failure, or when outputs fit no window or the pool. */
    InferenceResponse response(BufferPool pool, String model, String version) {
        for (PendingInference piece : pieces) {
            piece.failure().ifPresent(failure -> {
                throw failure;
            });
        }
        try {
            for (int i = 0; i < whole.tensors().outputCount(); i++) {
                join(i, pool);
            }
            whole.settle();
            return whole.response(model, version);
        } catch (Throwable t) {
            whole.drop();
            throw t;
        }
    }

    private void join(int output, BufferPool pool) {
        if (pieces.getFirst().leavesOut(output)) {
            whole.leaveOut(whole.tensors().rule(output).name());
            return;
        }
        TensorSpec first = result(pieces.getFirst(), output).spec();
        long rows = 0;
        long byteSize = 0;
        for (PendingInference piece : pieces) {
            Tensor part = result(piece, output);
            rows += part.spec().shape().dim(0);
            byteSize += part.byteSize();
        }
        TensorSpec spec =
                new TensorSpec(first.name(), first.datatype(), first.shape().withFirst(rows));
        Optional<RegionLease> destination =
                whole.tensors().requestedOutput(output).destination();
        MemorySegment target;
        if (destination.isPresent()) {
            target = RequestErrors.window(spec.name(), destination.get(), byteSize);
            whole.result(output, new OutputTensor(new Tensor(spec, target), true), null);
        } else {
            Buffer buffer = pool.take(byteSize);
            target = buffer.segment();
            whole.result(output, new OutputTensor(new Tensor(spec, target), false), buffer);
        }
        long at = 0;
        for (PendingInference piece : pieces) {
            MemorySegment bytes = result(piece, output).bytes();
            TensorCopy.copy(bytes, target.asSlice(at, bytes.byteSize()));
            at += bytes.byteSize();
        }
    }

    private static Tensor result(PendingInference piece, int output) {
        OutputTensor allocated = piece.result(output);
        if (allocated == null) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "the model left output '" + piece.tensors().rule(output).name()
                            + "' out for some rows of a request that was too large for one run: expected it for all"
                            + " or for none");
        }
        return allocated.tensor();
    }
}
