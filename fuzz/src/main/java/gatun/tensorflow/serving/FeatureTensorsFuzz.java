// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import com.google.protobuf.InvalidProtocolBufferException;
import gatun.fuzz.AskedModel;
import gatun.fuzz.Elements;
import gatun.fuzz.FuzzInput;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.wire.tensorflow.Example;
import gatun.wire.tensorflow.Feature;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * Serialised examples, each given twice: the tensors of their features hold the values that protobuf reads, or protobuf
 * refuses them as well.
 */
public final class FeatureTensorsFuzz {
    private static final Shape ANY = Shape.of(Shape.VARIABLE);
    private static final List<FeatureInput> INPUTS = List.of(
            new FeatureInput("f", Datatype.FP32, ANY, true),
            new FeatureInput("d", Datatype.FP64, ANY, true),
            new FeatureInput("i", Datatype.INT64, ANY, true),
            new FeatureInput("u", Datatype.UINT8, ANY, true),
            new FeatureInput("s", Datatype.BYTES, ANY, true));
    private static final int UINT8_MAX = 255;
    private static final int EXAMPLES = 2;
    private static final BufferPool POOL = new BufferPool(1 << 20);
    private static final AskedModel MODEL = AskedModel.taking(List.of());

    private FeatureTensorsFuzz() {}

    /** Reads the input as an example. */
    public static void fuzzerTestOneInput(byte[] input) {
        FuzzInput.run(input, () -> read(input));
        try {
            Example theirs = Example.parseFrom(input);
            FuzzInput.requireEqual(read(theirs.toByteArray()), expected(theirs), "an example");
        } catch (InvalidProtocolBufferException e) {
            // Ours looks at features only that the model takes.
        }
        FuzzInput.requireEqual(POOL.usedBytes(), 0L, "bytes that are lent");
    }

    private static Optional<String> read(byte[] example) {
        List<byte[]> examples = List.of(example, example);
        try (Buffer elements = POOL.take(BytesCodec.encodedByteSize(examples));
                InferenceRequest request = new InferenceRequest(MODEL)) {
            BytesCodec.encode(examples, elements.segment());
            new FeatureTensors(elements.segment(), EXAMPLES).addTo(request, POOL, INPUTS);
            StringBuilder text = new StringBuilder();
            request.inputs().forEach(tensor -> text.append(shown(tensor)));
            return Optional.of(text.toString());
        } catch (GatunException e) {
            return Optional.empty();
        }
    }

    private static String shown(Tensor tensor) {
        return tensor.spec().name() + tensor.spec().shape()
                + HexFormat.of().formatHex(tensor.bytes().toArray(ValueLayout.JAVA_BYTE)) + " ";
    }

    private static Optional<String> expected(Example example) {
        StringBuilder text = new StringBuilder();
        for (FeatureInput input : INPUTS) {
            Feature feature = example.getFeatures().getFeatureMap().get(input.name());
            if (feature == null) {
                continue;
            }
            if (!fits(feature, input.datatype())) {
                return Optional.empty();
            }
            Elements elements = new Elements();
            int count = add(feature, input.datatype(), elements);
            text.append(input.name())
                    .append(Shape.of(EXAMPLES, count))
                    .append(elements.hex())
                    .append(elements.hex())
                    .append(' ');
        }
        return Optional.of(text.toString());
    }

    private static boolean fits(Feature feature, Datatype datatype) {
        boolean small =
                feature.getInt64List().getValueList().stream().allMatch(value -> value >= 0 && value <= UINT8_MAX);
        return switch (feature.getKindCase()) {
            case BYTES_LIST -> datatype == Datatype.BYTES;
            case FLOAT_LIST -> datatype == Datatype.FP32 || datatype == Datatype.FP64;
            case INT64_LIST -> datatype != Datatype.BYTES && (datatype != Datatype.UINT8 || small);
            case KIND_NOT_SET -> true;
        };
    }

    /** Adds the values of a feature that fits; returns how many there are. */
    private static int add(Feature feature, Datatype datatype, Elements elements) {
        feature.getBytesList().getValueList().forEach(value -> elements.addString(value.toByteArray()));
        feature.getFloatList().getValueList().forEach(value -> add(value, datatype, elements));
        feature.getInt64List().getValueList().forEach(value -> {
            switch (datatype) {
                case FP32 -> add(value.floatValue(), datatype, elements);
                case FP64 -> elements.add(Double.doubleToRawLongBits(value.doubleValue()), Double.BYTES);
                default -> elements.add(value, datatype.byteSize());
            }
        });
        return feature.getBytesList().getValueCount()
                + feature.getFloatList().getValueCount()
                + feature.getInt64List().getValueCount();
    }

    private static void add(float value, Datatype datatype, Elements elements) {
        if (datatype == Datatype.FP32) {
            elements.add(Float.floatToRawIntBits(value), Float.BYTES);
        } else {
            elements.add(Double.doubleToRawLongBits(value), Double.BYTES);
        }
    }
}
