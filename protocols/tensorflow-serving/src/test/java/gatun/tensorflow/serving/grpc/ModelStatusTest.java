// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import static gatun.tensorflow.serving.grpc.TensorFlowFixture.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.Int64Value;
import gatun.protocol.testing.TestServerSettings;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.wire.tensorflow.Code;
import gatun.wire.tensorflow.DataType;
import gatun.wire.tensorflow.ProfileRequest;
import gatun.wire.tensorflow.SignatureDef;
import gatun.wire.tensorflow.TensorInfo;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.TensorShapeProto;
import gatun.wire.tensorflow.serving.GetModelMetadataRequest;
import gatun.wire.tensorflow.serving.GetModelMetadataResponse;
import gatun.wire.tensorflow.serving.GetModelStatusRequest;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.ModelVersionStatus;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.tensorflow.serving.SignatureDefMap;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Statuses of models as clients of TensorFlow Serving see them. */
@Timeout(60)
class ModelStatusTest {
    private TensorFlowFixture fixture;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        fixture = new TensorFlowFixture(folder)
                .model("m", """
                        version_policy { all { } }
                        max_batch_size: 8
                        input [ { name: "x" data_type: TYPE_FP32 dims: [ 3 ] } ]
                        output [ { name: "y" data_type: TYPE_FP32 dims: [ 3 ] } ]
                        """, 2, 10)
                .model("text", """
                        input [ { name: "x" data_type: TYPE_STRING dims: [ -1 ] } ]
                        output [ { name: "y" data_type: TYPE_STRING dims: [ -1 ] } ]
                        """, 1)
                .model("broken", """
                        input [ { name: "x" data_type: TYPE_FP32 dims: [ 3 ] } ]
                        output [ { name: "y" data_type: TYPE_FP32 dims: [ 3 ] } ]
                        parameters { key: "fail" value { string_value: "no such luck" } }
                        """, 7)
                .open(
                        TestServerSettings.usual(),
                        new TensorFlowSettings(
                                false, Duration.ofSeconds(30), false, true, false, false, Optional.empty()));
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private static ModelSpec.Builder model(String name) {
        return ModelSpec.newBuilder().setName(name);
    }

    private static ModelVersionStatus available(long version) {
        ModelVersionStatus.Builder status =
                ModelVersionStatus.newBuilder().setVersion(version).setState(ModelVersionStatus.State.AVAILABLE);
        status.getStatusBuilder().setErrorCode(Code.OK);
        return status.build();
    }

    private static GetModelStatusRequest status(ModelSpec.Builder spec) {
        return GetModelStatusRequest.newBuilder().setModelSpec(spec).build();
    }

    @Test
    void shouldTellTheStateOfEveryVersionTheHighestFirst() {
        assertThat(fixture.models().getModelStatus(status(model("m"))).getModelVersionStatusList())
                .containsExactly(available(10), available(2));
        assertThat(fixture.models()
                        .getModelStatus(status(model("m").setVersionLabel("any")))
                        .getModelVersionStatusCount())
                .isEqualTo(2);
    }

    @Test
    void shouldTellTheStateOfOneVersion() {
        assertThat(fixture.models()
                        .getModelStatus(status(model("m").setVersion(Int64Value.of(2))))
                        .getModelVersionStatusList())
                .containsExactly(available(2));
    }

    @Test
    void shouldTellWhyAVersionIsNotServed() {
        ModelVersionStatus status =
                fixture.models().getModelStatus(status(model("broken"))).getModelVersionStatus(0);

        assertThat(status.getVersion()).isEqualTo(7);
        assertThat(status.getState()).isEqualTo(ModelVersionStatus.State.END);
        assertThat(status.getStatus().getErrorCode()).isEqualTo(Code.UNKNOWN);
        assertThat(status.getStatus().getErrorMessage()).contains("no such luck");
    }

    @Test
    void shouldRefuseToTellTheStateOfWhatIsNotThere() {
        assertThat(failure(() -> fixture.models().getModelStatus(GetModelStatusRequest.getDefaultInstance())))
                .isEqualTo("INVALID_ARGUMENT Missing ModelSpec");
        assertThat(failure(() -> fixture.models().getModelStatus(status(model("none")))))
                .isEqualTo("NOT_FOUND Could not find any versions of model none");
        assertThat(failure(
                        () -> fixture.models().getModelStatus(status(model("m").setVersion(Int64Value.of(3))))))
                .isEqualTo("NOT_FOUND Could not find version 3 of model m");
    }

    @Test
    void shouldTellTheSignaturesOfAModel() throws Exception {
        GetModelMetadataResponse response = fixture.prediction()
                .getModelMetadata(GetModelMetadataRequest.newBuilder()
                        .setModelSpec(model("m"))
                        .addMetadataField("signature_def")
                        .build());

        assertThat(response.getModelSpec())
                .isEqualTo(model("m").setVersion(Int64Value.of(10)).build());
        assertThat(response.getMetadataMap()).containsOnlyKeys("signature_def");
        assertThat(response.getMetadataOrThrow("signature_def").getTypeUrl())
                .isEqualTo("type.googleapis.com/tensorflow.serving.SignatureDefMap");
        SignatureDefMap signatures =
                response.getMetadataOrThrow("signature_def").unpack(SignatureDefMap.class);
        TensorInfo.Builder info = TensorInfo.newBuilder().setDtype(DataType.DT_FLOAT);
        info.getTensorShapeBuilder().addDimBuilder().setSize(-1);
        info.getTensorShapeBuilder().addDimBuilder().setSize(3);
        assertThat(signatures.getSignatureDefMap()).containsOnlyKeys("serving_default");
        assertThat(signatures.getSignatureDefOrThrow("serving_default"))
                .isEqualTo(SignatureDef.newBuilder()
                        .putInputs("x", info.setName("x").build())
                        .putOutputs("y", info.setName("y").build())
                        .setMethodName("tensorflow/serving/predict")
                        .build());
    }

    @Test
    void shouldRefuseToTellWhatItDoesNotKnow() {
        GetModelMetadataRequest.Builder request = GetModelMetadataRequest.newBuilder();
        assertThat(metadataFailure(request)).isEqualTo("INVALID_ARGUMENT Missing ModelSpec");
        request.setModelSpec(model("none"));
        assertThat(metadataFailure(request))
                .isEqualTo("INVALID_ARGUMENT GetModelMetadataRequest must specify at least one metadata_field");
        request.addMetadataField("signature_def");
        assertThat(metadataFailure(request)).isEqualTo("NOT_FOUND Servable not found for request: Latest(none)");
        request.addMetadataField("other");
        assertThat(metadataFailure(request)).isEqualTo("INVALID_ARGUMENT Metadata field other is not supported");
    }

    private String metadataFailure(GetModelMetadataRequest.Builder request) {
        return failure(() -> fixture.prediction().getModelMetadata(request.build()));
    }

    @Test
    void shouldAnswerInTensorContentWhereTheServerIsToldTo() {
        TensorProto.Builder floats = TensorProto.newBuilder().setDtype(DataType.DT_FLOAT);
        floats.setTensorShape(shape(1, 3)).addFloatVal(1).addFloatVal(0).addFloatVal(-2);
        TensorProto answer = predict("m", floats);
        assertThat(answer.getFloatValCount()).isZero();
        assertThat(answer.getTensorContent())
                .isEqualTo(ByteString.copyFrom(new byte[] {0, 0, (byte) 0x80, 0x3f, 0, 0, 0, 0, 0, 0, 0, (byte) 0xc0}));

        TensorProto.Builder strings = TensorProto.newBuilder().setDtype(DataType.DT_STRING);
        strings.setTensorShape(shape(2))
                .addStringVal(ByteString.copyFromUtf8("ab"))
                .addStringVal(ByteString.copyFromUtf8("c"));
        assertThat(predict("text", strings).getTensorContent())
                .isEqualTo(ByteString.copyFrom(new byte[] {2, 1, 'a', 'b', 'c'}));
    }

    private static TensorShapeProto shape(long... dims) {
        TensorShapeProto.Builder shape = TensorShapeProto.newBuilder();
        for (long dim : dims) {
            shape.addDimBuilder().setSize(dim);
        }
        return shape.build();
    }

    private TensorProto predict(String model, TensorProto.Builder input) {
        return fixture.prediction()
                .predict(PredictRequest.newBuilder()
                        .setModelSpec(model(model))
                        .putInputs("x", input.build())
                        .build())
                .getOutputsOrThrow("y");
    }

    @Test
    void shouldHaveNoProfilerWhereItIsOff() {
        assertThatThrownBy(() -> fixture.profiler().profile(ProfileRequest.getDefaultInstance()))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessage("UNIMPLEMENTED: Method not found: tensorflow.ProfilerService/Profile");
    }
}
