// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Datatypes;
import gatun.wire.inference.DataType;
import gatun.workers.FrameReader;
import gatun.workers.FrameWriter;
import java.util.List;
import java.util.Map;

/** Values as frames have them. */
final class Codec {
    /** By the numbers of Triton's own codes. */
    private static final List<ErrorCode> CODES = List.of(
            ErrorCode.UNKNOWN,
            ErrorCode.INTERNAL,
            ErrorCode.NOT_FOUND,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.UNAVAILABLE,
            ErrorCode.UNSUPPORTED,
            ErrorCode.ALREADY_EXISTS,
            ErrorCode.CANCELLED);

    private Codec() {}

    static GatunException error(int code, String message) {
        return new GatunException(code < CODES.size() ? CODES.get(code) : ErrorCode.UNKNOWN, message);
    }

    /** The number of a code; those that Triton does not have are the nearest. */
    static int code(ErrorCode code) {
        int number = CODES.indexOf(code);
        return number >= 0 ? number : CODES.indexOf(ErrorCode.UNAVAILABLE);
    }

    /** @throws GatunException UNSUPPORTED for a datatype that Python models do not have */
    static void writeTensor(FrameWriter frame, TensorSpec spec, long offset, long byteSize) {
        int datatype = Datatypes.configured(spec.datatype()).getNumber();
        if (datatype > DataType.TYPE_BF16_VALUE) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "tensor '" + spec.name() + "' is " + spec.datatype() + ", which Python models do not have");
        }
        frame.text(spec.name()).u8(datatype).u32(spec.shape().rank());
        for (int i = 0; i < spec.shape().rank(); i++) {
            frame.u64(spec.shape().dim(i));
        }
        frame.u64(offset).u64(byteSize);
    }

    static WorkerTensor readTensor(FrameReader frame) {
        String name = frame.text();
        DataType configured = DataType.forNumber(frame.u8());
        if (configured == null || configured == DataType.TYPE_INVALID) {
            throw new GatunException(ErrorCode.INTERNAL, "a worker sent tensor '" + name + "' of no datatype");
        }
        Datatype datatype = Datatypes.of(configured);
        long[] dims = new long[frame.count(Long.BYTES)];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = frame.u64();
        }
        Shape shape = Shape.of(dims);
        if (shape.elementCount() < 0) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "a worker sent tensor '" + name + "' of shape " + shape + ", which no tensor has");
        }
        return new WorkerTensor(new TensorSpec(name, datatype, shape), frame.u64(), frame.u64());
    }

    /** A tensor in response memory, at {@code offset}; sizes in bytes. */
    record WorkerTensor(TensorSpec spec, long offset, long byteSize) {
        /** With the batch dimension that models may leave out for a row, by outputs' {@code ranks} with it. */
        WorkerTensor withBatchDimension(Map<String, Integer> ranks) {
            if (ranks.getOrDefault(spec.name(), 0) != spec.shape().rank() + 1) {
                return this;
            }
            TensorSpec longer =
                    new TensorSpec(spec.name(), spec.datatype(), spec.shape().prepend(1));
            return new WorkerTensor(longer, offset, byteSize);
        }
    }
}
