// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.Int64Value;
import com.google.protobuf.InvalidProtocolBufferException;
import gatun.bench.data.DataSet;
import gatun.bench.data.DataSet.Step;
import gatun.bench.data.ExpectedOutputs;
import gatun.bench.data.ModelDescription;
import gatun.bench.endpoint.TensorFlowTarget.TensorFlowDatatypes;
import gatun.bench.endpoint.TensorFlowTarget.TensorFlowModels;
import gatun.client.ArrayTensors;
import gatun.client.ClientOptions;
import gatun.client.grpc.GrpcChannel;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.tensorflow.SignatureDef;
import gatun.wire.tensorflow.TensorInfo;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.TensorShapeProto;
import gatun.wire.tensorflow.serving.GetModelMetadataRequest;
import gatun.wire.tensorflow.serving.GetModelMetadataResponse;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.tensorflow.serving.PredictResponse;
import gatun.wire.tensorflow.serving.PredictionServiceGrpc;
import gatun.wire.tensorflow.serving.SignatureDefMap;
import io.grpc.StatusRuntimeException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** A server of TensorFlow Serving's gRPC. Owns the connection. */
final class TensorFlowGrpc implements TensorFlowServer {
    private static final String SIGNATURES = "signature_def";

    private final ClientOptions options;
    private final GrpcChannel connection;
    private final ModelSpec model;

    TensorFlowGrpc(ClientOptions options, String model, String version, String signature) {
        this.options = options;
        this.connection = GrpcChannel.open(options);
        ModelSpec.Builder spec = ModelSpec.newBuilder().setName(model).setSignatureName(signature);
        if (!version.isEmpty()) {
            spec.setVersion(Int64Value.of(Long.parseLong(version)));
        }
        this.model = spec.build();
    }

    @Override
    public ModelDescription describe() {
        GetModelMetadataResponse metadata;
        try {
            metadata = stub().getModelMetadata(GetModelMetadataRequest.newBuilder()
                    .setModelSpec(model.toBuilder().clearSignatureName())
                    .addMetadataField(SIGNATURES)
                    .build());
        } catch (StatusRuntimeException e) {
            throw TensorFlowModels.refused(options.server().url(), model.getName(), text(e));
        }
        Map<String, SignatureDef> signatures = signatures(metadata);
        SignatureDef signature = signatures.get(model.getSignatureName());
        if (signature == null) {
            throw TensorFlowModels.noSignature(model.getName(), model.getSignatureName(), signatures.keySet());
        }
        return TensorFlowModels.describe(
                model.getName(), specs(signature.getInputsMap()), specs(signature.getOutputsMap()));
    }

    @Override
    public List<Prediction> predictions(DataSet data) {
        List<Prediction> predictions = new ArrayList<>();
        for (int i = 0; i < data.size(); i++) {
            Step step = data.step(i);
            PredictRequest.Builder request = PredictRequest.newBuilder().setModelSpec(model);
            for (Tensor input : step.inputs()) {
                request.putInputs(input.spec().name(), TensorFlowProtos.message(input));
            }
            predictions.add(new GrpcPrediction(request.build(), step.expected()));
        }
        return predictions;
    }

    @Override
    public void close() {
        connection.close();
    }

    private PredictionServiceGrpc.PredictionServiceBlockingStub stub() {
        PredictionServiceGrpc.PredictionServiceBlockingStub stub =
                PredictionServiceGrpc.newBlockingStub(connection.channel());
        return options.deadline()
                .map(time -> stub.withDeadlineAfter(time.toNanos(), TimeUnit.NANOSECONDS))
                .orElse(stub);
    }

    private Map<String, SignatureDef> signatures(GetModelMetadataResponse metadata) {
        try {
            Any packed = metadata.getMetadataOrDefault(SIGNATURES, Any.getDefaultInstance());
            return new TreeMap<>(packed.unpack(SignatureDefMap.class).getSignatureDefMap());
        } catch (InvalidProtocolBufferException e) {
            throw new TargetException(
                    "the server at " + options.server() + " described model '" + model.getName()
                            + "' by something that is no signature: " + e.getMessage(),
                    e);
        }
    }

    private static List<TensorSpec> specs(Map<String, TensorInfo> tensors) {
        return new TreeMap<>(tensors)
                .entrySet().stream()
                        .map(entry -> new TensorSpec(
                                entry.getKey(),
                                TensorFlowDatatypes.of(
                                        entry.getValue().getDtype().name()),
                                TensorFlowProtos.shape(entry.getValue().getTensorShape())))
                        .toList();
    }

    private static String text(StatusRuntimeException failure) {
        String description = failure.getStatus().getDescription();
        return failure.getStatus().getCode() + (description == null ? "" : ": " + description);
    }

    /** One request, made again and again. */
    private final class GrpcPrediction implements Prediction {
        private final PredictRequest request;
        private final ExpectedOutputs expected;

        private GrpcPrediction(PredictRequest request, ExpectedOutputs expected) {
            this.request = request;
            this.expected = expected;
        }

        @Override
        public Response make() {
            PredictResponse response;
            try {
                response = stub().predict(request);
            } catch (StatusRuntimeException e) {
                throw new TargetException(text(e), e);
            }
            return new GrpcResponse(response, expected);
        }
    }

    private record GrpcResponse(PredictResponse response, ExpectedOutputs expected) implements Response {
        @Override
        public String differences() {
            if (expected.isNothing()) {
                return "";
            }
            List<Tensor> outputs = new ArrayList<>();
            for (Map.Entry<String, TensorProto> output :
                    response.getOutputsMap().entrySet()) {
                if (TensorFlowDatatypes.of(output.getValue().getDtype().name()) != Datatype.INVALID) {
                    try {
                        outputs.add(TensorFlowProtos.tensor(output.getKey(), output.getValue()));
                    } catch (IllegalArgumentException e) {
                        return "output '" + output.getKey() + "' cannot be read: " + e.getMessage();
                    }
                }
            }
            return expected.differences(outputs);
        }

        @Override
        public long tensorByteSize() {
            long byteSize = 0;
            for (TensorProto output : response.getOutputsMap().values()) {
                byteSize += TensorFlowProtos.byteSize(output);
            }
            return byteSize;
        }
    }

    /** Tensors as TensorFlow's messages, and back. */
    static final class TensorFlowProtos {
        private TensorFlowProtos() {}

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
                        (offset, byteSize) -> message.addStringVal(ByteString.copyFrom(
                                bytes.asSlice(offset, byteSize).toArray(ValueLayout.JAVA_BYTE))));
            } else {
                message.setTensorContent(ByteString.copyFrom(bytes.toArray(ValueLayout.JAVA_BYTE)));
            }
            return message.build();
        }

        /** In memory of the heap. Throws {@link IllegalArgumentException} when values and shape disagree. */
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
                return ArrayTensors.of(
                        name, datatype, message.getTensorContent().toByteArray(), shape.toArray());
            }
            return ArrayTensors.of(name, datatype, typed(message, datatype, shape), shape.toArray());
        }

        static long byteSize(TensorProto message) {
            Datatype datatype = TensorFlowDatatypes.of(message.getDtype().name());
            if (datatype == Datatype.BYTES) {
                long byteSize = 0;
                for (int i = 0; i < message.getStringValCount(); i++) {
                    byteSize +=
                            BytesCodec.LENGTH_BYTES + message.getStringVal(i).size();
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
}
