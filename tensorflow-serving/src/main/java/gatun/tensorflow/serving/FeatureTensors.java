package gatun.tensorflow.serving;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import gatun.memory.Buffer;
import gatun.memory.BufferPool;
import gatun.memory.BytesCodec;
import gatun.memory.Datatype;
import gatun.memory.ElementLayouts;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.memory.TensorSpec;
import gatun.protocol.tensorflow.Example;
import gatun.protocol.tensorflow.Feature;
import gatun.runtime.InferenceRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/** Makes dense tensors of the features of examples, one behind the other. For one thread. */
final class FeatureTensors {
    private static final Feature NONE = Feature.getDefaultInstance();

    /** Each example's features by name. */
    private final List<Map<String, Feature>> examples;

    private FeatureTensors(List<Map<String, Feature>> examples) {
        this.examples = examples;
    }

    /**
     * Reads examples.
     *
     * @param elements serialised messages, each an element of a BYTES tensor
     * @throws GatunException INVALID_ARGUMENT when one of them is no such message
     */
    static FeatureTensors of(MemorySegment elements, long count) {
        List<Map<String, Feature>> examples = new ArrayList<>();
        long at = 0;
        for (int i = 0; i < count; i++) {
            long byteSize = BytesCodec.elementByteSize(elements, at);
            at += BytesCodec.LENGTH_BYTES;
            try {
                examples.add(Example.parseFrom(elements.asSlice(at, byteSize).asByteBuffer())
                        .getFeatures()
                        .getFeatureMap());
            } catch (InvalidProtocolBufferException e) {
                throw GatunException.invalidArgument("Could not parse example input " + i + ": " + e.getMessage());
            }
            at += byteSize;
        }
        return new FeatureTensors(examples);
    }

    /**
     * Gives tensors to a request, in buffers of {@code pool}.
     *
     * @throws GatunException INVALID_ARGUMENT when an example lacks values, or has others than the input takes
     */
    void addTo(InferenceRequest request, BufferPool pool, List<FeatureInput> inputs) {
        for (FeatureInput input : inputs) {
            if (input.optional() && examples.stream().noneMatch(example -> example.containsKey(input.name()))) {
                continue;
            }
            Shape shape = shape(input);
            Buffer buffer = pool.take(byteSize(input, shape));
            request.hold(buffer);
            long byteSize = write(input, buffer.segment());
            request.addInput(new Tensor(
                    new TensorSpec(input.name(), input.datatype(), shape),
                    buffer.segment().asSlice(0, byteSize)));
        }
    }

    /** The shape of all examples' values, of which each has as many as the first. */
    private Shape shape(FeatureInput input) {
        long[] dims = input.dims().toArray();
        long fixed = LongStream.of(dims).filter(dim -> dim != Shape.VARIABLE).reduce(1, Math::multiplyExact);
        long first = valueCount(feature(input, 0));
        long expected = fixed;
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] == Shape.VARIABLE) {
                dims[i] = fixed == 0 ? 0 : first / fixed;
                expected = dims[i] * fixed;
            }
        }
        for (int i = 0; i < examples.size(); i++) {
            long count = valueCount(feature(input, i));
            if (count != expected) {
                throw GatunException.invalidArgument("Feature: " + input.name() + " has " + count
                        + " values in example " + i + "; expected " + expected + ", for the input takes "
                        + input.dims() + " of each example, and of each as many as of the first");
            }
        }
        return Shape.of(dims).prepend(examples.size());
    }

    private Feature feature(FeatureInput input, int example) {
        Feature feature = examples.get(example).get(input.name());
        if (feature == null) {
            throw GatunException.invalidArgument("Feature: " + input.name() + " is required but could not be found in"
                    + " example " + example + "; features are named as the model's inputs");
        }
        boolean fits =
                switch (feature.getKindCase()) {
                    case BYTES_LIST -> input.datatype() == Datatype.BYTES;
                    case FLOAT_LIST -> input.datatype() == Datatype.FP32 || input.datatype() == Datatype.FP64;
                    // Whole numbers are integers in JSON, also where they stand for others.
                    case INT64_LIST -> input.datatype() != Datatype.BYTES;
                    case KIND_NOT_SET -> true;
                };
        if (!fits) {
            throw GatunException.invalidArgument("Feature: " + input.name() + " has values of kind "
                    + feature.getKindCase() + " in example " + example + ", and the input takes "
                    + DataTypes.shortName(input.datatype()));
        }
        return feature;
    }

    private static int valueCount(Feature feature) {
        return switch (feature.getKindCase()) {
            case BYTES_LIST -> feature.getBytesList().getValueCount();
            case FLOAT_LIST -> feature.getFloatList().getValueCount();
            case INT64_LIST -> feature.getInt64List().getValueCount();
            case KIND_NOT_SET -> 0;
        };
    }

    private long byteSize(FeatureInput input, Shape shape) {
        if (input.datatype().isFixedSize()) {
            return shape.byteSize(input.datatype());
        }
        long byteSize = 0;
        for (Map<String, Feature> example : examples) {
            for (ByteString value :
                    example.getOrDefault(input.name(), NONE).getBytesList().getValueList()) {
                byteSize += BytesCodec.LENGTH_BYTES + value.size();
            }
        }
        return byteSize;
    }

    /** Writes the values of all examples; answers how many bytes they are. */
    private long write(FeatureInput input, MemorySegment target) {
        long at = 0;
        for (Map<String, Feature> example : examples) {
            Feature feature = example.getOrDefault(input.name(), NONE);
            for (int i = 0; i < feature.getFloatList().getValueCount(); i++) {
                at = putReal(input, target, at, feature.getFloatList().getValue(i));
            }
            for (int i = 0; i < feature.getInt64List().getValueCount(); i++) {
                at = putInteger(input, target, at, feature.getInt64List().getValue(i));
            }
            for (ByteString value : feature.getBytesList().getValueList()) {
                MemorySegment bytes = MemorySegment.ofBuffer(value.asReadOnlyByteBuffer());
                at = BytesCodec.put(target, at, bytes, 0, bytes.byteSize());
            }
        }
        return at;
    }

    private static long putReal(FeatureInput input, MemorySegment target, long at, float value) {
        if (input.datatype() == Datatype.FP32) {
            target.set(ElementLayouts.FP32, at, value);
            return at + Float.BYTES;
        }
        target.set(ElementLayouts.FP64, at, value);
        return at + Double.BYTES;
    }

    private static long putInteger(FeatureInput input, MemorySegment target, long at, long value) {
        Datatype datatype = input.datatype();
        if (!fits(datatype, value)) {
            throw GatunException.invalidArgument("Feature: " + input.name() + " has the value " + value
                    + ", which the input's type " + DataTypes.shortName(datatype) + " does not have");
        }
        switch (datatype) {
            case FP32 -> target.set(ElementLayouts.FP32, at, (float) value);
            case FP64 -> target.set(ElementLayouts.FP64, at, (double) value);
            case BOOL, INT8, UINT8 -> target.set(JAVA_BYTE, at, (byte) value);
            case INT16, UINT16 -> target.set(ElementLayouts.INT16, at, (short) value);
            case INT32, UINT32 -> target.set(ElementLayouts.INT32, at, (int) value);
            case INT64, UINT64 -> target.set(ElementLayouts.INT64, at, value);
            case FP16, BF16, BYTES, INVALID -> throw new IllegalStateException(datatype + " holds no integer");
        }
        return at + datatype.byteSize();
    }

    private static boolean fits(Datatype datatype, long value) {
        return switch (datatype) {
            case BOOL -> value == 0 || value == 1;
            case INT8 -> value == (byte) value;
            case INT16 -> value == (short) value;
            case INT32 -> value == (int) value;
            case UINT8, UINT16, UINT32 -> value >= 0 && value >>> (Byte.SIZE * datatype.byteSize()) == 0;
            case UINT64 -> value >= 0;
            case INT64, FP32, FP64, FP16, BF16, BYTES, INVALID -> true;
        };
    }
}
