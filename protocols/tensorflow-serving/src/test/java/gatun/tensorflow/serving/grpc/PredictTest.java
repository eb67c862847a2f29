// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import static gatun.tensorflow.serving.grpc.TensorFlowFixture.failure;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Int64Value;
import gatun.wire.tensorflow.DataType;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.TensorShapeProto;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.tensorflow.serving.PredictResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class PredictTest {
    private static final Map<String, String> TYPES = Map.ofEntries(
            Map.entry("BOOL", "BOOL"),
            Map.entry("UINT8", "UINT8"),
            Map.entry("UINT16", "UINT16"),
            Map.entry("UINT32", "UINT32"),
            Map.entry("UINT64", "UINT64"),
            Map.entry("INT8", "INT8"),
            Map.entry("INT16", "INT16"),
            Map.entry("INT32", "INT32"),
            Map.entry("INT64", "INT64"),
            Map.entry("HALF", "FP16"),
            Map.entry("BFLOAT16", "BF16"),
            Map.entry("FLOAT", "FP32"),
            Map.entry("DOUBLE", "FP64"),
            Map.entry("STRING", "STRING"));

    private TensorFlowFixture fixture;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        fixture = new TensorFlowFixture(folder);
        TYPES.forEach((name, type) -> fixture.model(name, """
                input [ { name: "x" data_type: TYPE_%s dims: [ -1, -1 ] } ]
                output [ { name: "y" data_type: TYPE_%s dims: [ -1, -1 ] } ]
                """.formatted(type, type), 1));
        fixture.model("pair", """
                version_policy { all { } }
                input [ { name: "a" data_type: TYPE_FP32 dims: [ -1 ] }, { name: "b" data_type: TYPE_INT32 dims: [ -1 ] } ]
                output [ { name: "c" data_type: TYPE_FP32 dims: [ -1 ] }, { name: "d" data_type: TYPE_INT32 dims: [ -1 ] } ]
                """, 1, 4);
        fixture.model("lenient", """
                input [ { name: "a" data_type: TYPE_FP32 dims: [ -1 ] },
                        { name: "b" data_type: TYPE_INT32 dims: [ -1 ] optional: true } ]
                output [ { name: "c" data_type: TYPE_FP32 dims: [ -1 ] } ]
                """, 1);
        fixture.open();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private static TensorShapeProto shape(long... dims) {
        TensorShapeProto.Builder shape = TensorShapeProto.newBuilder();
        for (long dim : dims) {
            shape.addDimBuilder().setSize(dim);
        }
        return shape.build();
    }

    private static TensorProto.Builder tensor(DataType type, long... dims) {
        return TensorProto.newBuilder().setDtype(type).setTensorShape(shape(dims));
    }

    private static PredictRequest.Builder request(String model) {
        return PredictRequest.newBuilder().setModelSpec(ModelSpec.newBuilder().setName(model));
    }

    private static PredictRequest.Builder pair() {
        return request("pair").putInputs("a", floats(1.5f, 2.5f)).putInputs("b", ints(7, -8, 9));
    }

    private static TensorProto floats(float... values) {
        TensorProto.Builder tensor = tensor(DataType.DT_FLOAT, values.length);
        for (float value : values) {
            tensor.addFloatVal(value);
        }
        return tensor.build();
    }

    private static TensorProto ints(int... values) {
        TensorProto.Builder tensor = tensor(DataType.DT_INT32, values.length);
        for (int value : values) {
            tensor.addIntVal(value);
        }
        return tensor.build();
    }

    private TensorProto echo(TensorProto tensor) {
        String model = tensor.getDtype().name().substring("DT_".length());
        return fixture.prediction()
                .predict(request(model).putInputs("x", tensor).build())
                .getOutputsOrThrow("y");
    }

    private String predictFailure(PredictRequest.Builder request) {
        return failure(() -> {
            PredictResponse unexpected = fixture.prediction().predict(request.build());
            assertThat(unexpected).as("no answer").isNull();
        });
    }

    private String tensorFailure(TensorProto.Builder tensor) {
        return predictFailure(request("FLOAT").putInputs("x", tensor.build()));
    }

    @Test
    void shouldAnswerWithTheOutputsAndWhatGaveThem() {
        PredictResponse response = fixture.prediction().predict(pair().build());

        assertThat(response.getOutputsMap()).containsOnlyKeys("c", "d");
        assertThat(response.getOutputsOrThrow("c")).isEqualTo(floats(1.5f, 2.5f));
        assertThat(response.getOutputsOrThrow("d")).isEqualTo(ints(7, -8, 9));
        assertThat(response.getModelSpec())
                .isEqualTo(ModelSpec.newBuilder()
                        .setName("pair")
                        .setVersion(Int64Value.of(4))
                        .setSignatureName("serving_default")
                        .build());
    }

    @Test
    void shouldAskTheVersionThatTheClientNames() {
        PredictRequest.Builder request = pair();
        request.getModelSpecBuilder().setVersion(Int64Value.of(1));

        assertThat(fixture.prediction()
                        .predict(request.build())
                        .getModelSpec()
                        .getVersion()
                        .getValue())
                .isEqualTo(1);
    }

    @Test
    void shouldTellTheEngineForHowLongTheClientWaits() {
        assertThat(fixture.prediction()
                        .withDeadlineAfter(1, TimeUnit.HOURS)
                        .predict(pair().build())
                        .getOutputsMap())
                .isNotEmpty();
        assertThat(fixture.echo.timeLeftNanos).isBetween(1L, TimeUnit.HOURS.toNanos(1));
        assertThat(fixture.prediction()
                        .withDeadlineAfter(3, TimeUnit.HOURS)
                        .predict(pair().build())
                        .getOutputsMap())
                .isNotEmpty();
        assertThat(fixture.echo.timeLeftNanos).isBetween(TimeUnit.HOURS.toNanos(1), TimeUnit.HOURS.toNanos(3));
    }

    @Test
    void shouldAnswerOnlyWithTheOutputsOfTheFilter() {
        PredictResponse response =
                fixture.prediction().predict(pair().addOutputFilter("d").build());

        assertThat(response.getOutputsMap()).containsOnlyKeys("d");
        assertThat(response.getOutputsOrThrow("d")).isEqualTo(ints(7, -8, 9));
    }

    @Test
    void shouldKeepEveryValueOfEveryTypeInItsField() {
        TensorProto[] tensors = {
            tensor(DataType.DT_BOOL, 1, 3)
                    .addBoolVal(true)
                    .addBoolVal(false)
                    .addBoolVal(true)
                    .build(),
            tensor(DataType.DT_UINT8, 1, 2).addIntVal(0).addIntVal(255).build(),
            tensor(DataType.DT_INT8, 1, 2).addIntVal(-128).addIntVal(127).build(),
            tensor(DataType.DT_UINT16, 1, 2).addIntVal(65_535).addIntVal(1).build(),
            tensor(DataType.DT_INT16, 1, 2).addIntVal(-32_768).addIntVal(300).build(),
            tensor(DataType.DT_INT32, 1, 2)
                    .addIntVal(Integer.MIN_VALUE)
                    .addIntVal(Integer.MAX_VALUE)
                    .build(),
            tensor(DataType.DT_UINT32, 1, 2).addUint32Val(-1).addUint32Val(1).build(),
            tensor(DataType.DT_INT64, 1, 2)
                    .addInt64Val(Long.MIN_VALUE)
                    .addInt64Val(5)
                    .build(),
            tensor(DataType.DT_UINT64, 1, 2).addUint64Val(-1).addUint64Val(5).build(),
            tensor(DataType.DT_HALF, 1, 2).addHalfVal(0xffff).addHalfVal(0x3c00).build(),
            tensor(DataType.DT_BFLOAT16, 1, 2)
                    .addHalfVal(0x3f80)
                    .addHalfVal(0x8000)
                    .build(),
            tensor(DataType.DT_FLOAT, 1, 2)
                    .addFloatVal(Float.MIN_VALUE)
                    .addFloatVal(-3)
                    .build(),
            tensor(DataType.DT_DOUBLE, 1, 2)
                    .addDoubleVal(Double.MAX_VALUE)
                    .addDoubleVal(-3)
                    .build(),
            tensor(DataType.DT_STRING, 1, 3)
                    .addStringVal(ByteString.copyFromUtf8("añb"))
                    .addStringVal(ByteString.EMPTY)
                    .addStringVal(ByteString.copyFrom(new byte[300]))
                    .build(),
        };
        for (TensorProto tensor : tensors) {
            assertThat(echo(tensor)).isEqualTo(tensor);
        }
    }

    @Test
    void shouldReadTensorContent() {
        ByteBuffer content = ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN);
        content.putInt(1).putInt(-2).putInt(3).putInt(4).putInt(5).putInt(6).flip();

        assertThat(echo(tensor(DataType.DT_INT32, 2, 3)
                        .setTensorContent(ByteString.copyFrom(content))
                        .build()))
                .isEqualTo(tensor(DataType.DT_INT32, 2, 3)
                        .addIntVal(1)
                        .addIntVal(-2)
                        .addIntVal(3)
                        .addIntVal(4)
                        .addIntVal(5)
                        .addIntVal(6)
                        .build());
        assertThat(echo(tensor(DataType.DT_BOOL, 1, 2)
                                .setTensorContent(ByteString.copyFrom(new byte[] {0, (byte) 0xff}))
                                .build())
                        .getBoolValList())
                .containsExactly(false, true);
        // Of strings: the lengths, then the strings.
        assertThat(echo(tensor(DataType.DT_STRING, 1, 3)
                                .setTensorContent(ByteString.copyFrom(new byte[] {1, 0, 2, 'a', 'b', 'c'}))
                                .build())
                        .getStringValList())
                .extracting(ByteString::toStringUtf8)
                .containsExactly("a", "", "bc");
    }

    @Test
    void shouldLetTheLastValueStandForThoseThatAreMissing() {
        assertThat(echo(tensor(DataType.DT_FLOAT, 1, 5)
                                .addFloatVal(1)
                                .addFloatVal(2)
                                .build())
                        .getFloatValList())
                .containsExactly(1f, 2f, 2f, 2f, 2f);
        assertThat(echo(tensor(DataType.DT_INT16, 3, 300).addIntVal(-7).build()).getIntValList())
                .hasSize(900)
                .containsOnly(-7);
        assertThat(echo(tensor(DataType.DT_INT64, 1, 2).build()).getInt64ValList())
                .containsExactly(0L, 0L);
        assertThat(echo(tensor(DataType.DT_STRING, 1, 3)
                                .addStringVal(ByteString.copyFromUtf8("xyz"))
                                .build())
                        .getStringValList())
                .extracting(ByteString::toStringUtf8)
                .containsExactly("xyz", "xyz", "xyz");
        assertThat(echo(tensor(DataType.DT_STRING, 1, 2).build()).getStringValList())
                .containsExactly(ByteString.EMPTY, ByteString.EMPTY);
    }

    @Test
    void shouldTakeATensorWithoutElements() {
        assertThat(echo(tensor(DataType.DT_FLOAT, 0, 4).build()))
                .isEqualTo(tensor(DataType.DT_FLOAT, 0, 4).build());
    }

    @Test
    void shouldReadLargeTensorsWhereverTheyLie() {
        Random random = new Random(5);
        for (int size : new int[] {1, 63, 1000, 100_000}) {
            TensorProto.Builder a = tensor(DataType.DT_FLOAT, size);
            TensorProto.Builder b = tensor(DataType.DT_INT32, size);
            for (int i = 0; i < size; i++) {
                a.addFloatVal(random.nextFloat());
                b.addIntVal(random.nextInt());
            }

            PredictResponse response = fixture.prediction()
                    .predict(request("pair")
                            .putInputs("b", b.build())
                            .putInputs("a", a.build())
                            .build());

            assertThat(response.getOutputsOrThrow("c").getFloatValList()).isEqualTo(a.getFloatValList());
            assertThat(response.getOutputsOrThrow("d").getIntValList()).isEqualTo(b.getIntValList());
        }
    }

    /** A float_val that is not packed: field 5 as fixed32, three times; and one that is packed in two pieces. */
    @ParameterizedTest
    @ValueSource(strings = {"2d0000803f2d000000402d00004040", "2a040000803f2a080000004000004040"})
    void shouldReadValuesThatAreNotPackedInOnePiece(String values) {
        byte[] proto = tensor(DataType.DT_FLOAT, 1, 3)
                .build()
                .toByteString()
                .concat(ByteString.copyFrom(HexFormat.of().parseHex(values)))
                .toByteArray();
        ByteString entry = ByteString.copyFrom(new byte[] {10, 1, 'x', 18, (byte) proto.length})
                .concat(ByteString.copyFrom(proto));
        byte[] bytes = request("FLOAT")
                .build()
                .toByteString()
                .concat(ByteString.copyFrom(new byte[] {18, (byte) entry.size()}))
                .concat(entry)
                .toByteArray();

        PredictResponse response = fixture.predict(bytes);

        assertThat(response.getOutputsOrThrow("y").getFloatValList()).containsExactly(1f, 2f, 3f);
    }

    /** Every prefix of a message is one, or is refused as none; nothing else happens. */
    @Test
    void shouldRefuseMessagesThatAreCutOff() {
        byte[] whole = pair().build().toByteArray();
        IntStream.range(0, whole.length).forEach(length -> {
            String failure = failure(() -> fixture.predict(java.util.Arrays.copyOf(whole, length)));

            assertThat(failure)
                    .matches(
                            "(?s)(INVALID_ARGUMENT (the request message is not valid|Missing ModelSpec|ModelSpec has no"
                                    + "|input size does not match|tensor parsing error|inference input).*|NOT_FOUND"
                                    + " .*)");
        });
    }

    @Test
    void shouldRefuseARequestWithoutAModel() {
        assertThat(predictFailure(PredictRequest.newBuilder())).isEqualTo("INVALID_ARGUMENT Missing ModelSpec");
        assertThat(predictFailure(request(""))).isEqualTo("INVALID_ARGUMENT ModelSpec has no name specified.");
    }

    @Test
    void shouldSayWhichModelIsNotServed() {
        assertThat(predictFailure(request("nobody")))
                .isEqualTo("NOT_FOUND Servable not found for request: Latest(nobody)");
        PredictRequest.Builder version = pair();
        version.getModelSpecBuilder().setVersion(Int64Value.of(3));
        assertThat(predictFailure(version)).isEqualTo("NOT_FOUND Servable not found for request: Specific(pair, 3)");
        PredictRequest.Builder label = pair();
        label.getModelSpecBuilder().setVersionLabel("stable");
        assertThat(predictFailure(label)).isEqualTo("INVALID_ARGUMENT Unrecognized servable version label: stable");
    }

    @Test
    void shouldRefuseASignatureThatTheModelHasNot() {
        PredictRequest.Builder request = pair();
        request.getModelSpecBuilder().setSignatureName("other");
        assertThat(predictFailure(request)).isEqualTo("FAILED_PRECONDITION Serving signature key \"other\" not found.");
        request.getModelSpecBuilder().setSignatureName("serving_default");
        assertThat(fixture.prediction().predict(request.build()).getOutputsCount())
                .isEqualTo(2);
    }

    @Test
    void shouldRefuseInputsThatAreNotTheSignatures() {
        assertThat(predictFailure(request("pair").putInputs("z", floats(1))))
                .isEqualTo("INVALID_ARGUMENT input size does not match signature: 1!=2 len({z}) != len({a,b})."
                        + " Sent extra: {z}. Missing but required: {a,b}.");
        assertThat(predictFailure(pair().putInputs("z", floats(1))))
                .isEqualTo("INVALID_ARGUMENT input size does not match signature: 3!=2 len({a,b,z}) != len({a,b})."
                        + " Sent extra: {z}. Missing but required: {}.");
        assertThat(predictFailure(request("pair").putInputs("a", floats(1)).putInputs("z", floats(1))))
                .isEqualTo("INVALID_ARGUMENT Signature input alias: b(feed name: b) not found in request and no default"
                        + " value provided. Inputs expected to be in the request {a,z}, or default input alias set: ");
    }

    @Test
    void shouldLetInputsBeLeftOutThatAreOptional() {
        assertThat(fixture.prediction()
                        .predict(request("lenient").putInputs("a", floats(3)).build())
                        .getOutputsOrThrow("c"))
                .isEqualTo(floats(3));
        assertThat(predictFailure(request("lenient").putInputs("b", ints(3))))
                .isEqualTo("INVALID_ARGUMENT Signature input alias: a(feed name: a) not found in request and no default"
                        + " value provided. Inputs expected to be in the request {b}, or default input alias set: b");
        assertThat(predictFailure(request("lenient").putInputs("a", floats(3)).putInputs("z", ints(3))))
                .isEqualTo("INVALID_ARGUMENT Inputs contains invalid name. Used request inputs: a, request input: a,z");
    }

    @Test
    void shouldRefuseOutputsThatAreNotTheSignatures() {
        assertThat(predictFailure(pair().addOutputFilter("z")))
                .isEqualTo(
                        "INVALID_ARGUMENT output tensor alias not found in signature: z Outputs expected to be in the"
                                + " set {c,d}.");
        assertThat(predictFailure(pair().addOutputFilter("c").addOutputFilter("c")))
                .isEqualTo("INVALID_ARGUMENT duplicate output tensor alias: c");
    }

    @Test
    void shouldRefuseTensorsThatCannotBeRead() {
        String text = "INVALID_ARGUMENT tensor parsing error: x";
        assertThat(tensorFailure(tensor(DataType.DT_INVALID, 1, 1))).startsWith(text);
        assertThat(tensorFailure(tensor(DataType.DT_FLOAT, 1, 1).setDtypeValue(77)))
                .startsWith(text);
        assertThat(tensorFailure(tensor(DataType.DT_FLOAT, 1, -1))).startsWith(text);
        assertThat(tensorFailure(tensor(DataType.DT_FLOAT, 1L << 40, 1L << 40))).startsWith(text);
        assertThat(tensorFailure(tensor(DataType.DT_FLOAT, 1L << 61, 1))).startsWith(text);
        assertThat(tensorFailure(TensorProto.newBuilder()
                        .setDtype(DataType.DT_FLOAT)
                        .setTensorShape(TensorShapeProto.newBuilder().setUnknownRank(true))))
                .startsWith(text);
        assertThat(tensorFailure(tensor(DataType.DT_FLOAT, 1, 1).addFloatVal(1).addFloatVal(2)))
                .startsWith(text);
        assertThat(tensorFailure(tensor(DataType.DT_FLOAT, 1, 2).setTensorContent(ByteString.copyFrom(new byte[7]))))
                .startsWith(text);
        assertThat(tensorFailure(
                        tensor(DataType.DT_STRING, 1, 2).setTensorContent(ByteString.copyFrom(new byte[] {1, 9, 'a'}))))
                .startsWith(text);
        assertThat(tensorFailure(tensor(DataType.DT_FLOAT, new long[300]))).startsWith(text);
        assertThat(tensorFailure(tensor(DataType.DT_FLOAT, 2, 2).setTensorContent(ByteString.copyFrom(new byte[12]))))
                .isEqualTo(text + ": its shape [2,2] asks for 16 bytes, got 12");
        assertThat(tensorFailure(tensor(DataType.DT_FLOAT, 1).addFloatVal(1).addFloatVal(2)))
                .isEqualTo(text + ": its shape [1] asks for 1 values, got 2");
    }

    @Test
    void shouldRefuseTensorsThatTheModelDoesNotTake() {
        assertThat(tensorFailure(tensor(DataType.DT_COMPLEX64, 1, 1)))
                .isEqualTo("INVALID_ARGUMENT Expects arg[0] to be float but complex64 is provided; arg[0] is the input"
                        + " 'x'");
        assertThat(tensorFailure(tensor(DataType.DT_RESOURCE, 1, 1)))
                .startsWith("INVALID_ARGUMENT input 'x' is of type DT_RESOURCE");
        assertThat(tensorFailure(tensor(DataType.DT_INT32, 1, 1)))
                .isEqualTo(
                        "INVALID_ARGUMENT Expects arg[0] to be float but int32 is provided; arg[0] is the input 'x'");
        assertThat(tensorFailure(tensor(DataType.DT_FLOAT, 1, 1, 1)))
                .startsWith("INVALID_ARGUMENT")
                .contains("shape");
    }

    @Test
    void shouldCutLongTexts() {
        String name = "é".repeat(2000);

        String failure = predictFailure(request(name));

        assertThat(failure)
                .startsWith("NOT_FOUND Servable not found for request: Latest(é")
                .endsWith("é...TRUNCATED");
        assertThat(failure.substring("NOT_FOUND ".length()).getBytes(java.nio.charset.StandardCharsets.UTF_8).length)
                .isLessThanOrEqualTo(1024 + "...TRUNCATED".length());
    }
}
