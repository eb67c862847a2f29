// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.tensorflow.serving.http.TensorFlowRoutes.PredictRoute.Signatures;
import gatun.wire.inference.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reading a document in one pass; fuzzing shows that reading it twice gives the same. */
class PredictReaderTest {
    private static final TensorSpec FLOATS = new TensorSpec("x", Datatype.FP32, Shape.of(-1));

    private final BufferPool pool = new BufferPool(64L << 20);
    private final Arena arena = Arena.ofConfined();

    @AfterEach
    void close() {
        assertThat(pool.usedBytes()).isZero();
        arena.close();
        pool.close();
    }

    /** The result of reading: the tensors, or the failure. */
    private String outcome(byte[] json, TensorSpec... inputs) {
        MemorySegment text = arena.allocate(Math.max(1, json.length)).copyFrom(MemorySegment.ofArray(json));
        try {
            RequestDocument document = RequestDocument.forPredict(text, 0, json.length, RequestUsage.standard());
            ModelVersion model = new Named(List.of(inputs));
            try (InferenceRequest request = new InferenceRequest(model);
                    PredictReader reader = new PredictReader(pool, document, model, entries(inputs))) {
                boolean rows = reader.readInto(request);
                return document.signatureName() + " " + rows + " "
                        + request.inputs().stream()
                                .map(PredictReaderTest::shown)
                                .collect(Collectors.joining(" "));
            } catch (GatunException e) {
                throw document.firstFailure(e);
            }
        } catch (GatunException e) {
            return e.code() + " " + e.getMessage();
        }
    }

    private static List<EntryTensor> entries(TensorSpec... inputs) {
        return Arrays.stream(inputs)
                .map(spec -> new EntryTensor(spec, false, spec.name()))
                .toList();
    }

    private static String shown(Tensor tensor) {
        return tensor.spec() + " " + HexFormat.of().formatHex(tensor.bytes().toArray(ValueLayout.JAVA_BYTE));
    }

    @Test
    void shouldReadWhatDocumentsHold() {
        assertThat(outcome(
                        "{\"signature_name\":\"s\",\"instances\":[[1],[2]]}".getBytes(StandardCharsets.UTF_8), FLOATS))
                .isEqualTo("s true " + new TensorSpec("x", Datatype.FP32, Shape.of(2, 1)) + " 0000803f00000040");
        assertThat(outcome("{\"inputs\":[1,2]}".getBytes(StandardCharsets.UTF_8), FLOATS))
                .isEqualTo(" false " + new TensorSpec("x", Datatype.FP32, Shape.of(2)) + " 0000803f00000040");
    }

    private static TensorSpec input(String name, Datatype datatype) {
        return new TensorSpec(name, datatype, Shape.of(-1));
    }

    private String outcome(String json, TensorSpec... inputs) {
        return outcome(json.getBytes(StandardCharsets.UTF_8), inputs);
    }

    @Test
    void shouldRoundToTheNearestFloat() {
        String expected = " true " + new TensorSpec("x", Datatype.FP32, Shape.of(3)) + " ";

        // 2^30 + 1 lies between two floats, whether it is written as an integer or not.
        assertThat(outcome("{\"instances\":[1073741825, 1073741825.0, 107374182.5e1]}", FLOATS))
                .isEqualTo(expected + "0000804e0000804e0000804e");
        assertThat(outcome("{\"instances\":[1.7e308, -1.7e308, 1]}", FLOATS))
                .isEqualTo(expected + "0000807f000080ff0000803f");
        assertThat(outcome("{\"instances\":[2.3e-308, -2.3e-308, 0]}", FLOATS))
                .isEqualTo(expected + "000000000000008000000000");
        assertThat(outcome("{\"inputs\":[3.4028237e38, 1e39, -1e39]}", FLOATS))
                .isEqualTo(expected.replace("true", "false") + "0000807f0000807f000080ff");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "\"instances\":[#, @] | \"instances\":[\"one\", \"two\"]",
                "\"instances\":[[#], [@]] | \"instances\":[[\"one\"], [\"two\"]]",
                "\"instances\":[#, \"two\"] | \"instances\":[\"one\", \"two\"]",
                "\"instances\":[{\"x\":[[#], [@]]}] | \"instances\":[[[\"one\"], [\"two\"]]]",
                "\"inputs\":# | \"inputs\":\"one\"",
                "\"inputs\":[[#, @]] | \"inputs\":[[\"one\", \"two\"]]",
                "\"inputs\":{\"x\":#} | \"inputs\":\"one\""
            })
    void shouldReadBase64WhereAStringMayBe(String encoded, String plain) {
        TensorSpec strings = input("x", Datatype.BYTES);
        String document = encoded.replace("#", "{\"b64\":\"b25l\"}").replace("@", "{ \"b64\" : \"dHdv\" }");

        assertThat(outcome("{" + document + "}", strings))
                .isEqualTo(outcome("{" + plain + "}", strings))
                .doesNotStartWith("INVALID");
    }

    @Test
    void shouldReadRowsOfInputsOfSeveralKinds() {
        TensorSpec[] inputs = {
            input("i", Datatype.INT32), input("s", Datatype.BYTES), input("f", Datatype.FP32), input("d", Datatype.FP64)
        };
        String rows = outcome(
                "{\"instances\":[{\"i\":[[7],[8]],\"s\":[\"a\",\"b\"],\"f\":[0.5,NaN],\"d\":[NaN]},"
                        + "{\"d\":[-4],\"f\":[-Infinity,2],\"s\":[\"c\",\"\"],\"i\":[[-1],[0]]}]}",
                inputs);

        assertThat(rows)
                .isEqualTo(outcome(
                                "{\"inputs\":{\"i\":[[[7],[8]],[[-1],[0]]],\"s\":[[\"a\",\"b\"],[\"c\",\"\"]],"
                                        + "\"f\":[[0.5,NaN],[-Infinity,2]],\"d\":[[NaN],[-4]]}}",
                                inputs)
                        .replace("false", "true"))
                .contains(new TensorSpec("i", Datatype.INT32, Shape.of(2, 2, 1)) + " 0700000008000000ffffffff00000000")
                .contains(new TensorSpec("f", Datatype.FP32, Shape.of(2, 2)) + " 0000003f0000c07f000080ff00000040")
                .contains(new TensorSpec("d", Datatype.FP64, Shape.of(2, 1)) + " 000000000000f87f00000000000010c0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{\"inputs\":{\"x\":[1]}} | x",
                "{\"inputs\":{\"x\":[1],\"optional\":[2]}} | x, optional",
                "{\"instances\":[{\"x\":1},{\"x\":2}]} | x",
                "{\"instances\":[{\"x\":1,\"optional\":3},{\"optional\":4,\"x\":2}]} | x, optional"
            })
    void shouldTakeRequestsWithoutOptionalInputs(String json, String expected) {
        TensorSpec optional = new TensorSpec("optional", Datatype.INT32, Shape.of(-1));
        String outcome = outcome(json.getBytes(StandardCharsets.UTF_8), FLOATS, optional);

        assertThat(outcome.contains("optional")).as(outcome).isEqualTo(expected.contains("optional"));
        assertThat(outcome).doesNotStartWith("INVALID").contains("x");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"instances\":[{\"x\":1},{\"x\":2,\"optional\":3}]}",
                "{\"instances\":[{\"x\":1,\"optional\":3},{\"x\":2}]}"
            })
    void shouldRefuseRowsOfWhichSomeLackAnOptionalInput(String json) {
        TensorSpec optional = new TensorSpec("optional", Datatype.INT32, Shape.of(-1));

        assertThat(outcome(json.getBytes(StandardCharsets.UTF_8), FLOATS, optional))
                .startsWith("INVALID_ARGUMENT Failed to process element: 1 of 'instances' list. JSON object: ")
                .endsWith(" keys must be equal to: optional,x");
    }

    /** Requests that fail late: the element, or the end, that is wrong stands behind all others. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"instances\":[@, true]}",
                "{\"instances\":[[1], @, 2]}",
                "{\"instances\":[[1, 1], @, [1]]}",
                "{\"inputs\":[@, null]}",
                "{\"inputs\":[@, [1]]}",
                "{\"inputs\":{\"y\":[@]}}",
                "{\"inputs\":[@] \"x\"}",
                "{\"inputs\":[@",
                "{\"instances\":[@, {\"x\": 1}]}",
                "{\"instances\":[@], \"inputs\":[@]}",
                "{\"instances\":{\"a\":[@]}}",
                "{\"signature_name\":[@]}",
                "{\"more\":[@]}",
                "[@]"
            })
    void shouldAllocateNoMoreForALargeRequestThatFails(String document) {
        String element = document.contains("[[1], @") ? "[1]" : document.contains("[[1, 1], @") ? "[1, 1]" : "1.25";
        byte[] small = filled(document, element, 100);
        byte[] large = filled(document, element, 200_000);
        for (int warmUp = 0; warmUp < 5; warmUp++) {
            allocated(small);
            allocated(large);
        }

        assertThat(allocated(large)).isLessThan(allocated(small) + 32 * 1024);
    }

    private static byte[] filled(String document, String element, int count) {
        return document.replace("@", String.join(", ", Collections.nCopies(count, element)))
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Bytes of the heap that refusing a request takes; the least of some tries. */
    private long allocated(byte[] json) {
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        MemorySegment text = arena.allocate(json.length).copyFrom(MemorySegment.ofArray(json));
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            refuse(text);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return least;
    }

    private void refuse(MemorySegment text) {
        String refused = "";
        try {
            RequestDocument document = RequestDocument.forPredict(text, 0, text.byteSize(), RequestUsage.standard());
            ModelVersion model = new Named(List.of(FLOATS));
            try (InferenceRequest request = new InferenceRequest(model);
                    PredictReader reader = new PredictReader(pool, document, model, entries(FLOATS))) {
                reader.readInto(request);
            } catch (GatunException e) {
                throw document.firstFailure(e);
            }
        } catch (GatunException e) {
            refused = e.getMessage();
        }
        assertThat(refused).isNotEmpty();
    }

    @Test
    void shouldRefuseSignaturesWithoutInputs() {
        ModelVersion model = new Named(List.of());

        assertThat(signatureFailure(model, "")).isEqualTo("Failed to get input map for signature: DEFAULT");
        assertThat(signatureFailure(model, EntryPoint.DEFAULT))
                .isEqualTo("Failed to get input map for signature: serving_default");
    }

    private static String signatureFailure(ModelVersion model, String signature) {
        ServablePath path = new ServablePath("m", "", "");
        try {
            return Signatures.of(model, path.servable(signature)).name();
        } catch (GatunException e) {
            return e.getMessage();
        }
    }

    /** A model that is only asked for what it takes. */
    private record Named(List<TensorSpec> inputs) implements ModelVersion {
        @Override
        public long version() {
            return 1;
        }

        @Override
        public String versionText() {
            return "1";
        }

        @Override
        public List<TensorSpec> outputs() {
            return List.of();
        }

        @Override
        public ModelConfig config() {
            ModelConfig.Builder config = ModelConfig.newBuilder();
            inputs.forEach(input -> config.addInputBuilder()
                    .setName(input.name())
                    .setOptional(input.name().startsWith("optional")));
            return config.build();
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
}
