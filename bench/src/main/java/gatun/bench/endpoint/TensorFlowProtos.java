// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import com.google.protobuf.ByteString;
import gatun.client.ArrayTensors;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.TensorShapeProto;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** Tensors as TensorFlow's messages, and back. */
final class TensorFlowProtos {
    private TensorFlowProtos() {}

    /** The message of a tensor, with a copy of its bytes. */
    static TensorProto message(Tensor tensor) {
        TensorProto.Builder message = TensorProto.newBuilder()
                .setDtype(TensorFlowDatatypes.of(tensor.spec().datatype()));
        TensorShapeProto.Builder shape = TensorShapeProto.newBuilder();
        for (long dim : tensor.spec().shape().toArray()) {
            shape.addDim(TensorShapeProto.Dim.newBuilder().setSize(dim));
        }
        message.setTensorShape(shape);
        MemorySegment bytes = tensor.bytes();
        if (tensor.spec().datatype() == Datatype.BYTES) {
            BytesCodec.forEach(
                    bytes,
                    (offset, byteSize) -> message.addStringVal(
                            ByteString.copyFrom(bytes.asSlice(offset, byteSize).toArray(ValueLayout.JAVA_BYTE))));
        } else {
            message.setTensorContent(ByteString.copyFrom(bytes.toArray(ValueLayout.JAVA_BYTE)));
        }
        return message.build();
    }

    /**
     * The tensor of a message, in memory of the heap.
     *
     * @throws IllegalArgumentException when its values are not as many as its shape says
     */
    static Tensor tensor(String name, TensorProto message) {
        Datatype datatype = TensorFlowDatatypes.of(message.getDtype().name());
        Shape shape = shape(message.getTensorShape());
        if (datatype == Datatype.BYTES) {
            List<byte[]> strings = message.getStringValList().stream()
                    .map(ByteString::toByteArray)
                    .toList();
            byte[] raw = new byte[Math.toIntExact(BytesCodec.encodedByteSize(strings))];
            BytesCodec.encode(strings, MemorySegment.ofArray(raw));
            return ArrayTensors.of(name, datatype, raw, shape.toArray());
        }
        if (!message.getTensorContent().isEmpty()) {
            return ArrayTensors.of(name, datatype, message.getTensorContent().toByteArray(), shape.toArray());
        }
        return ArrayTensors.of(name, datatype, typed(message, datatype, shape), shape.toArray());
    }

    /** Bytes of the values of a message. */
    static long byteSize(TensorProto message) {
        Datatype datatype = TensorFlowDatatypes.of(message.getDtype().name());
        if (datatype == Datatype.BYTES) {
            long byteSize = 0;
            for (int i = 0; i < message.getStringValCount(); i++) {
                byteSize += BytesCodec.LENGTH_BYTES + message.getStringVal(i).size();
            }
            return byteSize;
        }
        return Math.max(0, shape(message.getTensorShape()).byteSize(datatype));
    }

    static Shape shape(TensorShapeProto shape) {
        long[] dims = new long[shape.getDimCount()];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = shape.getDim(i).getSize();
        }
        return Shape.of(dims);
    }

    /** A single value stands for as many as the shape has. */
    private static byte[] typed(TensorProto message, Datatype datatype, Shape shape) {
        int count = Math.toIntExact(Math.max(0, shape.elementCount()));
        int given =
                switch (datatype) {
                    case FP32 -> message.getFloatValCount();
                    case FP64 -> message.getDoubleValCount();
                    case INT64 -> message.getInt64ValCount();
                    case UINT32 -> message.getUint32ValCount();
                    case UINT64 -> message.getUint64ValCount();
                    case BOOL -> message.getBoolValCount();
                    case FP16, BF16 -> message.getHalfValCount();
                    case INT32, INT16, INT8, UINT8, UINT16 -> message.getIntValCount();
                    default -> 0;
                };
        ByteBuffer bytes = ByteBuffer.allocate(count * datatype.byteSize()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count && given > 0; i++) {
            put(bytes, message, datatype, Math.min(i, given - 1));
        }
        return bytes.array();
    }

    private static void put(ByteBuffer bytes, TensorProto message, Datatype datatype, int index) {
        switch (datatype) {
            case FP32 -> bytes.putFloat(message.getFloatVal(index));
            case FP64 -> bytes.putDouble(message.getDoubleVal(index));
            case INT64 -> bytes.putLong(message.getInt64Val(index));
            case UINT32 -> bytes.putInt(message.getUint32Val(index));
            case UINT64 -> bytes.putLong(message.getUint64Val(index));
            case BOOL -> bytes.put((byte) (message.getBoolVal(index) ? 1 : 0));
            case FP16, BF16 -> bytes.putShort((short) message.getHalfVal(index));
            case INT32 -> bytes.putInt(message.getIntVal(index));
            case INT16, UINT16 -> bytes.putShort((short) message.getIntVal(index));
            case INT8, UINT8 -> bytes.put((byte) message.getIntVal(index));
            default -> throw new IllegalArgumentException(datatype + " has no values of a fixed size");
        }
    }
}
