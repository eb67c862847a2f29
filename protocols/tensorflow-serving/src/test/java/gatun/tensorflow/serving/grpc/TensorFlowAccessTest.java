// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import static gatun.tensorflow.serving.grpc.TensorFlowFixture.failure;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.TestServerSettings;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.access.HeaderForwarding.HeaderRules;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.wire.tensorflow.MonitorRequest;
import gatun.wire.tensorflow.ProfileRequest;
import gatun.wire.tensorflow.ProfilerServiceGrpc;
import gatun.wire.tensorflow.TerminateRequest;
import gatun.wire.tensorflow.serving.ClassificationRequest;
import gatun.wire.tensorflow.serving.GetModelMetadataRequest;
import gatun.wire.tensorflow.serving.GetModelStatusRequest;
import gatun.wire.tensorflow.serving.GetModelStatusResponse;
import gatun.wire.tensorflow.serving.ModelServiceGrpc;
import gatun.wire.tensorflow.serving.MultiInferenceRequest;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.tensorflow.serving.PredictionServiceGrpc;
import gatun.wire.tensorflow.serving.RegressionRequest;
import gatun.wire.tensorflow.serving.ReloadConfigRequest;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which group each method of TensorFlow Serving's services belongs to. */
@Timeout(60)
class TensorFlowAccessTest {
    private TensorFlowFixture fixture;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        Map<ApiGroup, ApiAccess.RequiredHeader> keys = new EnumMap<>(ApiGroup.class);
        for (ApiGroup group : ApiGroup.values()) {
            keys.put(group, new ApiAccess.RequiredHeader("key-of-" + group.wireName(), "secret"));
        }
        fixture = new TensorFlowFixture(folder)
                .model("m", """
                        input [ { name: "x" data_type: TYPE_FP32 dims: [ 3 ] } ]
                        output [ { name: "y" data_type: TYPE_FP32 dims: [ 3 ] } ]
                        """, 1)
                .open(
                        TestServerSettings.usual()
                                .withHeaders(HeaderRules.none().withAccess(new ApiAccess(keys, Map.of()))),
                        TensorFlowSettings.STANDARD);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private static GetModelStatusRequest status() {
        GetModelStatusRequest.Builder request = GetModelStatusRequest.newBuilder();
        request.getModelSpecBuilder().setName("m");
        return request.build();
    }

    @Test
    void shouldRefuseEveryMethodWithoutTheKeyOfItsGroup() {
        Map<String, Runnable> calls = new LinkedHashMap<>();
        calls.put("Predict inference", () -> fixture.prediction().predict(PredictRequest.getDefaultInstance()));
        calls.put(
                "Classify inference", () -> fixture.prediction().classify(ClassificationRequest.getDefaultInstance()));
        calls.put("Regress inference", () -> fixture.prediction().regress(RegressionRequest.getDefaultInstance()));
        calls.put("MultiInference inference", () -> fixture.prediction()
                .multiInference(MultiInferenceRequest.getDefaultInstance()));
        calls.put("GetModelMetadata metadata", () -> fixture.prediction()
                .getModelMetadata(GetModelMetadataRequest.getDefaultInstance()));
        calls.put("GetModelStatus metadata", () -> fixture.models().getModelStatus(status()));
        calls.put("HandleReloadConfigRequest model-repository", () -> fixture.models()
                .handleReloadConfigRequest(ReloadConfigRequest.getDefaultInstance()));
        calls.put("Profile trace", () -> fixture.profiler().profile(ProfileRequest.getDefaultInstance()));
        calls.put("Terminate trace", () -> fixture.profiler().terminate(TerminateRequest.getDefaultInstance()));
        calls.put("Monitor statistics", () -> fixture.profiler().monitor(MonitorRequest.getDefaultInstance()));

        calls.forEach((method, call) -> assertThat(failure(call))
                .as(method)
                .isEqualTo("UNAVAILABLE This protocol is restricted, expecting header 'key-of-"
                        + method.substring(method.indexOf(' ') + 1) + "'"));
        // A method that comes later must be given a group, and a line here.
        assertThat(calls.keySet().stream().map(method -> method.substring(0, method.indexOf(' '))))
                .containsExactlyInAnyOrderElementsOf(new TreeSet<>(Stream.of(
                                PredictionServiceGrpc.getServiceDescriptor(),
                                ModelServiceGrpc.getServiceDescriptor(),
                                ProfilerServiceGrpc.getServiceDescriptor())
                        .flatMap(service -> service.getMethods().stream())
                        .map(method -> method.getBareMethodName())
                        .toList()));
    }

    @Test
    void shouldTellTheStatusToWhomMetadataIsTold() {
        Metadata keys = new Metadata();
        keys.put(Metadata.Key.of("key-of-metadata", Metadata.ASCII_STRING_MARSHALLER), "secret");

        GetModelStatusResponse response = fixture.models()
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(keys))
                .getModelStatus(status());

        assertThat(response.getModelVersionStatusCount()).isEqualTo(1);
    }
}
