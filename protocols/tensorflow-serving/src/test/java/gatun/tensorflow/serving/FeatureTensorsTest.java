// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.wire.inference.ModelConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tensors of features take no heap for what a client chooses; that they are what protobuf reads of examples is shown by
 * fuzzing.
 */
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
                .hasMessage("Could not parse example input 1: a field of 5 bytes where 1 are left");
    }
}
