// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.message.WireReader;
import gatun.grpc.message.WireWriter;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.tensorflow.serving.DataTypes;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes PredictResponses: names and shapes to the heap, values from the tensors' own memory where they lie there as on
 * the wire, and otherwise from a buffer of the pool. Thread-safe.
 */
final class PredictEncoder {
    // Field numbers of PredictResponse.
    private static final int OUTPUTS = 1;
    private static final int MODEL_SPEC = 2;

    // Field numbers of an entry of a map.
    private static final int KEY = 1;
    private static final int VALUE = 2;

    // Field numbers of ModelSpec, and that of an Int64Value.
    private static final int NAME = 1;
    private static final int VERSION = 2;
    private static final int SIGNATURE_NAME = 3;
    private static final int WRAPPED = 1;

    // Field numbers of TensorShapeProto and its Dim.
    private static final int DIM = 2;
    private static final int DIM_SIZE = 1;

    private final BufferPool pool;
    private final boolean asContent;

    /** {@code asContent} puts values into tensor_content and not into the fields of their types. */
    PredictEncoder(BufferPool pool, boolean asContent) {
        this.pool = pool;
        this.asContent = asContent;
    }

    /**
     * The message of a response, which it takes over and closes with itself. Throws INVALID_ARGUMENT when it is larger
     * than gRPC's messages may be, UNAVAILABLE without memory for it; the response is closed then.
     */
    OutboundMessage encode(InferenceResponse response, String signature) {
        List<Buffer> buffers = new ArrayList<>(2);
        try {
            List<MemorySegment> parts = new ArrayList<>(2 * response.outputs().size() + 1);
            long byteSize = 0;
            for (OutputTensor output : response.outputs()) {
                byteSize += write(output.tensor(), parts, buffers);
            }
            WireWriter tail = new WireWriter();
            writeServable(tail, response, signature);
            parts.add(tail.segment());
            byteSize += tail.size();
            if (byteSize > Integer.MAX_VALUE) {
                throw GatunException.invalidArgument(
                        "the response has " + byteSize + " bytes; expected at most 2147483647, gRPC's limit");
            }
            return new OutboundMessage(parts.toArray(MemorySegment[]::new), () -> {
                buffers.forEach(Buffer::close);
                response.close();
            });
        } catch (Throwable t) {
            buffers.forEach(Buffer::close);
            response.close();
            throw t;
        }
    }

    /** Adds the parts of one entry of the outputs; returns their size. */
    private long write(Tensor tensor, List<MemorySegment> parts, List<Buffer> buffers) {
        TensorSpec spec = tensor.spec();
        WireWriter proto = new WireWriter();
        proto.varint(TensorTypes.DTYPE << 3 | WireReader.VARINT);
        proto.varint(DataTypes.of(spec.datatype()).getNumber());
        writeShape(proto, spec.shape());
        MemorySegment values = values(tensor, buffers);
        // The values of strings have their tags already.
        if (values.byteSize() > 0 && (asContent || spec.datatype() != Datatype.BYTES)) {
            proto.header(
                    asContent ? TensorTypes.TENSOR_CONTENT : TensorTypes.valueField(spec.datatype()),
                    values.byteSize());
        }
        long protoSize = proto.size() + values.byteSize();
        WireWriter head = new WireWriter();
        head.header(OUTPUTS, WireWriter.textSize(spec.name()) + 1 + WireWriter.varintSize(protoSize) + protoSize);
        head.text(KEY, spec.name());
        head.header(VALUE, protoSize);
        head.raw(proto);
        parts.add(head.segment());
        if (values.byteSize() > 0) {
            parts.add(values);
        }
        return head.size() + values.byteSize();
    }

    private MemorySegment values(Tensor tensor, List<Buffer> buffers) {
        Datatype datatype = tensor.spec().datatype();
        boolean asTheyLie = TensorTypes.liesAsElements(datatype);
        if (asTheyLie || (asContent && datatype.isFixedSize())) {
            return tensor.bytes();
        }
        long byteSize =
                asContent ? ValueWriter.contentSize(tensor.bytes()) : ValueWriter.typedSize(tensor.bytes(), datatype);
        if (byteSize == 0) {
            return MemorySegment.NULL;
        }
        Buffer buffer = pool.take(byteSize);
        buffers.add(buffer);
        if (asContent) {
            ValueWriter.writeContent(tensor.bytes(), buffer.segment());
        } else {
            ValueWriter.writeTyped(tensor.bytes(), datatype, buffer.segment());
        }
        return buffer.segment();
    }

    private static void writeShape(WireWriter out, Shape shape) {
        WireWriter dims = new WireWriter();
        for (int i = 0; i < shape.rank(); i++) {
            long dim = shape.dim(i);
            dims.header(DIM, dim == 0 ? 0 : 1 + WireWriter.varintSize(dim));
            if (dim != 0) {
                dims.varint(DIM_SIZE << 3 | WireReader.VARINT);
                dims.varint(dim);
            }
        }
        out.header(TensorTypes.TENSOR_SHAPE, dims.size());
        out.raw(dims);
    }

    private static void writeServable(WireWriter out, InferenceResponse response, String signature) {
        long version = Long.parseLong(response.modelVersion());
        int versionSize = version == 0 ? 0 : 1 + WireWriter.varintSize(version);
        out.header(
                MODEL_SPEC,
                WireWriter.textSize(response.modelName()) + 2 + versionSize + WireWriter.textSize(signature));
        out.text(NAME, response.modelName());
        out.header(VERSION, versionSize);
        if (version != 0) {
            out.varint(WRAPPED << 3 | WireReader.VARINT);
            out.varint(version);
        }
        out.text(SIGNATURE_NAME, signature);
    }
}
