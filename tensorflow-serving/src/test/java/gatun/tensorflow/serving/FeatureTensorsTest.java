package gatun.tensorflow.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import gatun.memory.Buffer;
import gatun.memory.BufferPool;
import gatun.memory.BytesCodec;
import gatun.memory.Datatype;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.TensorSpec;
import gatun.protocol.inference.ModelConfig;
import gatun.protocol.tensorflow.Example;
import gatun.protocol.tensorflow.Feature;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tensors of features must be what protobuf's own parser makes of the examples, and take no heap for what a client chooses. */
class FeatureTensorsTest {
    private static final List<FeatureInput> INPUTS = List.of(
            new FeatureInput("f", Datatype.FP32, Shape.of(Shape.VARIABLE), true),
            new FeatureInput("i", Datatype.INT64, Shape.of(Shape.VARIABLE), true),
            new FeatureInput("s", Datatype.BYTES, Shape.of(Shape.VARIABLE), true));

    private final BufferPool pool = new BufferPool(256 << 20);

    @AfterEach
    void close() {
        assertThat(pool.usedBytes()).isZero();
        pool.close();
    }

    /** A version whose inputs are filled from features. */
    private record Judge() implements ModelVersion {
        @Override
        public long version() {
            return 1;
        }

        @Override
        public String versionText() {
            return "1";
        }

        @Override
        public List<TensorSpec> inputs() {
            return List.of();
        }

        @Override
        public List<TensorSpec> outputs() {
            return List.of();
        }

        @Override
        public ModelConfig config() {
            return ModelConfig.getDefaultInstance();
        }

        @Override
        public boolean ready() {
            return true;
        }

        @Override
        public List<String> readyVersions() {
            return List.of("1");
        }
    }

    private String tensors(List<byte[]> examples, List<FeatureInput> inputs) {
        try (Buffer elements = pool.take(BytesCodec.encodedByteSize(examples));
                InferenceRequest request = new InferenceRequest(new Judge())) {
            BytesCodec.encode(examples, elements.segment());
            new FeatureTensors(elements.segment(), examples.size()).addTo(request, pool, inputs);
            StringBuilder text = new StringBuilder();
            request.inputs().forEach(tensor -> text.append(tensor.spec().name())
                    .append(tensor.spec().shape())
                    .append(HexFormat.of().formatHex(tensor.bytes().toArray(ValueLayout.JAVA_BYTE)))
                    .append(' '));
            return text.toString();
        }
    }

    /** What the features of one example make, by protobuf's parser. */
    private static String expected(Example example) {
        StringBuilder text = new StringBuilder();
        for (FeatureInput input : INPUTS) {
            Feature feature = example.getFeatures().getFeatureMap().get(input.name());
            if (feature == null) {
                continue;
            }
            List<byte[]> values = new ArrayList<>();
            for (float value : feature.getFloatList().getValueList()) {
                values.add(littleEndian(Float.floatToRawIntBits(value), Float.BYTES));
            }
            for (long value : feature.getInt64List().getValueList()) {
                values.add(
                        input.datatype() == Datatype.FP32
                                ? littleEndian(Float.floatToRawIntBits((float) value), Float.BYTES)
                                : littleEndian(value, Long.BYTES));
            }
            for (ByteString value : feature.getBytesList().getValueList()) {
                values.add(ByteString.copyFrom(littleEndian(value.size(), Integer.BYTES))
                        .concat(value)
                        .toByteArray());
            }
            text.append(input.name()).append("[1,").append(values.size()).append(']');
            values.forEach(value -> text.append(HexFormat.of().formatHex(value)));
            text.append(' ');
        }
        return text.toString();
    }

    private static byte[] littleEndian(long value, int byteSize) {
        byte[] bytes = new byte[byteSize];
        for (int i = 0; i < byteSize; i++) {
            bytes[i] = (byte) (value >>> (Byte.SIZE * i));
        }
        return bytes;
    }

    private static boolean fits(Example example) {
        return INPUTS.stream().allMatch(input -> {
            Feature feature = example.getFeatures().getFeatureMap().get(input.name());
            return feature == null
                    || switch (feature.getKindCase()) {
                        case FLOAT_LIST -> input.datatype() == Datatype.FP32;
                        case INT64_LIST -> input.datatype() != Datatype.BYTES;
                        case BYTES_LIST -> input.datatype() == Datatype.BYTES;
                        case KIND_NOT_SET -> true;
                    };
        });
    }

    /**
     * A piece of a message of random fields, nested by the rules of an example so that most of them mean something.
     *
     * @param kind the least kind that a feature's list may have: where kinds come again after others, protobuf for Java alone merges them
     */
    private static byte[] message(Random random, int depth, int kind) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int fields = 1 + random.nextInt(depth == 2 ? 2 : 3);
        int least = kind;
        for (int i = 0; i < fields; i++) {
            switch (depth) {
                case 0, 1 -> delimited(out, 1, message(random, depth + 1, 1));
                case 2 -> {
                    delimited(out, 1, new byte[] {(byte) "fisx".charAt(random.nextInt(4))});
                    least += random.nextInt(4 - least);
                    delimited(out, 2, message(random, 3, least));
                    least = 3;
                }
                case 3 -> {
                    least += random.nextInt(4 - least);
                    delimited(out, least, message(random, 4, 1));
                }
                default -> value(out, random);
            }
        }
        return out.toByteArray();
    }

    private static void value(ByteArrayOutputStream out, Random random) throws IOException {
        switch (random.nextInt(4)) {
            case 0 -> out.write(new byte[] {1 << 3, (byte) random.nextInt(128)});
            case 1 -> {
                out.write(1 << 3 | 5);
                out.write(littleEndian(random.nextInt(), Integer.BYTES));
            }
            case 2 -> delimited(out, 1, littleEndian(random.nextLong() & 0x7f7f7f7f7f7f7f7fL, Long.BYTES));
            default -> delimited(out, 1 + random.nextInt(2), new byte[4 * random.nextInt(3)]);
        }
    }

    private static void delimited(ByteArrayOutputStream out, int field, byte[] bytes) throws IOException {
        out.write(field << 3 | 2);
        int length = bytes.length;
        while (length > 0x7f) {
            out.write((length & 0x7f) | 0x80);
            length >>>= 7;
        }
        out.write(length);
        out.write(bytes);
    }

    @Test
    void shouldReadWhatProtobufReads() throws IOException {
        Random random = new Random(18);
        int read = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = message(random, 0, 1);
            boolean damaged = i % 4 == 3;
            if (damaged) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            Optional<Example> parsed = parse(bytes);
            String text = HexFormat.of().formatHex(bytes);
            try {
                String tensors = tensors(List.of(bytes), INPUTS);
                if (!damaged) {
                    assertThat(tensors).as(text).isEqualTo(expected(parsed.orElseThrow()));
                }
                read++;
            } catch (GatunException e) {
                if (!damaged && parsed.isPresent()) {
                    assertThat(e.getMessage()).as(text).contains("has values of kind");
                    assertThat(fits(parsed.get())).as(text).isFalse();
                }
            }
        }
        assertThat(read).as("examples that were read").isGreaterThan(1_000);
    }

    private static Optional<Example> parse(byte[] bytes) {
        try {
            return Optional.of(Example.parseFrom(bytes));
        } catch (InvalidProtocolBufferException e) {
            return Optional.empty();
        }
    }

    @Test
    void shouldTakeNoHeapForFeaturesAndValues() throws IOException {
        List<FeatureInput> inputs = List.of(INPUTS.get(2));
        ByteArrayOutputStream features = new ByteArrayOutputStream();
        for (int i = 0; i < 300_000; i++) {
            ByteArrayOutputStream entry = new ByteArrayOutputStream();
            delimited(entry, 1, Integer.toString(i).getBytes(StandardCharsets.US_ASCII));
            delimited(features, 1, entry.toByteArray());
        }
        byte[] strings = new byte[2 * 1_000_000];
        for (int i = 0; i < strings.length; i += 2) {
            strings[i] = 1 << 3 | 2;
        }
        ByteArrayOutputStream entry = new ByteArrayOutputStream();
        delimited(entry, 1, new byte[] {'s'});
        ByteArrayOutputStream feature = new ByteArrayOutputStream();
        delimited(feature, 1, strings);
        delimited(entry, 2, feature.toByteArray());
        delimited(features, 1, entry.toByteArray());
        ByteArrayOutputStream example = new ByteArrayOutputStream();
        delimited(example, 1, features.toByteArray());

        List<byte[]> examples = List.of(example.toByteArray());
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Buffer elements = pool.take(BytesCodec.encodedByteSize(examples));
                InferenceRequest request = new InferenceRequest(new Judge())) {
            BytesCodec.encode(examples, elements.segment());
            long before = threads.getCurrentThreadAllocatedBytes();
            new FeatureTensors(elements.segment(), 1).addTo(request, pool, inputs);
            assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(1 << 20);
            assertThat(request.inputs().getFirst().spec().shape()).isEqualTo(Shape.of(1, 1_000_000));
        }
    }

    @Test
    void shouldTellWhichExampleIsNone() {
        byte[] cut = {1 << 3 | 2, 5, 1};
        assertThatThrownBy(() -> tensors(Arrays.asList(new byte[0], cut), INPUTS))
                .isInstanceOf(GatunException.class)
                .hasMessage("Could not parse example input 1: a field that is cut off");
    }
}
