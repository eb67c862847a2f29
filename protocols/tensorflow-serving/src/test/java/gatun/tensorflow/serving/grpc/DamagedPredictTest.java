// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import static gatun.tensorflow.serving.grpc.TensorFlowFixture.failure;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.wire.tensorflow.DataType;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.tensorflow.serving.PredictResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests of Predict that are damaged, or made to do damage. The fixture checks at the end that the pool is empty. */
@Timeout(120)
class DamagedPredictTest {
    private static final int MUTATIONS = 2000;
    private static final long SEED = 20_261_121;
    private static final Set<Status.Code> CLIENTS_FAULT = EnumSet.of(
            Status.Code.INVALID_ARGUMENT,
            Status.Code.NOT_FOUND,
            Status.Code.FAILED_PRECONDITION,
            Status.Code.UNIMPLEMENTED);

    @TempDir
    Path repository;

    private TensorFlowFixture fixture;

    @BeforeEach
    void open() {
        fixture = new TensorFlowFixture(repository);
        fixture.model("m", """
                input [ { name: "x" data_type: TYPE_FP32 dims: [ -1, -1 ] }, { name: "s" data_type: TYPE_STRING dims: [ -1 ] } ]
                output [ { name: "y" data_type: TYPE_FP32 dims: [ -1, -1 ] }, { name: "t" data_type: TYPE_STRING dims: [ -1 ] } ]
                """, 1);
        fixture.open();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private static TensorProto.Builder tensor(DataType type, long... dims) {
        TensorProto.Builder tensor = TensorProto.newBuilder().setDtype(type);
        for (long dim : dims) {
            tensor.getTensorShapeBuilder().addDimBuilder().setSize(dim);
        }
        return tensor;
    }

    private static PredictRequest.Builder request(TensorProto.Builder x) {
        return PredictRequest.newBuilder()
                .setModelSpec(ModelSpec.newBuilder().setName("m"))
                .putInputs("x", x.build())
                .putInputs(
                        "s",
                        tensor(DataType.DT_STRING, 2)
                                .addStringVal(ByteString.copyFromUtf8("one"))
                                .addStringVal(ByteString.copyFromUtf8("two"))
                                .build());
    }

    private static PredictRequest.Builder request() {
        return request(tensor(DataType.DT_FLOAT, 2, 2)
                .addFloatVal(1)
                .addFloatVal(2)
                .addFloatVal(3)
                .addFloatVal(4));
    }

    private String refusal(PredictRequest request) {
        return failure(() -> {
            PredictResponse unexpected = fixture.prediction().predict(request);
            assertThat(unexpected).as("no answer").isNull();
        });
    }

    private void shouldAnswer() {
        PredictResponse response = fixture.prediction().predict(request().build());
        assertThat(response.getOutputsOrThrow("y").getFloatValList()).containsExactly(1f, 2f, 3f, 4f);
        assertThat(response.getOutputsOrThrow("t").getStringValList())
                .containsExactly(ByteString.copyFromUtf8("one"), ByteString.copyFromUtf8("two"));
    }

    @Test
    void shouldBlameTheClientForEveryDamagedMessage() {
        byte[] whole = request().addOutputFilter("y").build().toByteArray();
        Random random = new Random(SEED);
        int refused = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            byte[] damaged = Arrays.copyOf(whole, whole.length - random.nextInt(4));
            for (int left = 1 + random.nextInt(4); left > 0; left--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
            }
            try {
                PredictResponse answer = fixture.predict(damaged);
                assertThat(answer.getModelSpec().getName()).isEqualTo("m");
            } catch (StatusRuntimeException e) {
                refused++;
                assertThat(e.getStatus().getCode())
                        .as("mutation %s: %s", i, e.getMessage())
                        .isIn(CLIENTS_FAULT);
                assertThat(e.getStatus().getDescription()).isNotEmpty();
            }
        }
        assertThat(refused).isGreaterThan(MUTATIONS / 2);
        shouldAnswer();
    }

    @Test
    void shouldNotFillThePoolWithValuesThatATinyMessageLeavesOut() {
        long rows = 32L << 20;
        assertThat(refusal(request(tensor(DataType.DT_FLOAT, rows, 1).addFloatVal(1))
                        .build()))
                .isEqualTo(
                        "INVALID_ARGUMENT input 'x' of shape [33554432,1] leaves out values of 134217724 bytes; of one"
                                + " request at most 67108864 are filled in. Send the values, best as tensor_content");
        assertThat(refusal(request(tensor(DataType.DT_FLOAT, rows, 1)).build()))
                .contains("leaves out values of 134217728 bytes");
        assertThat(refusal(request()
                        .putInputs("s", tensor(DataType.DT_STRING, 20L << 20).build())
                        .build()))
                .startsWith("INVALID_ARGUMENT input 's' of shape [20971520] leaves out values of 83886080 bytes");
        shouldAnswer();
    }

    @Test
    void shouldCountWhatAllInputsOfAMessageLeaveOut() {
        PredictRequest request = request(tensor(DataType.DT_FLOAT, 8L << 20, 1))
                .putInputs("s", tensor(DataType.DT_STRING, 10L << 20).build())
                .build();
        assertThat(refusal(request)).contains("of one request at most 67108864 are filled in");
        shouldAnswer();
    }

    @Test
    void shouldRefuseShapesThatNoTensorHas() {
        for (long[] dims : new long[][] {
            {-1, 2}, {2, Long.MIN_VALUE}, {Long.MAX_VALUE, 2}, {1L << 32, 1L << 32}, {3_037_000_500L, 3_037_000_500L}
        }) {
            assertThat(refusal(
                            request(tensor(DataType.DT_FLOAT, dims).setTensorContent(ByteString.copyFrom(new byte[16])))
                                    .build()))
                    .as(Arrays.toString(dims))
                    .isEqualTo("INVALID_ARGUMENT tensor parsing error: x");
        }
        shouldAnswer();
    }
}
