// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import static gatun.tensorflow.serving.grpc.TensorFlowFixture.failure;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.wire.tensorflow.Code;
import gatun.wire.tensorflow.serving.GetModelMetadataRequest;
import gatun.wire.tensorflow.serving.GetModelStatusRequest;
import gatun.wire.tensorflow.serving.ModelConfig;
import gatun.wire.tensorflow.serving.ModelServerConfig;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.ModelType;
import gatun.wire.tensorflow.serving.ModelVersionStatus;
import gatun.wire.tensorflow.serving.ReloadConfigRequest;
import gatun.wire.tensorflow.serving.ReloadConfigResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** HandleReloadConfigRequest, and the labels of versions that it sets. */
@Timeout(60)
class ReloadConfigTest {
    private static final String TENSORS = """
            input [ { name: "x" data_type: TYPE_FP32 dims: [ 3 ] } ]
            output [ { name: "y" data_type: TYPE_FP32 dims: [ 3 ] } ]
            """;

    private Path folder;
    private TensorFlowFixture fixture;

    @BeforeEach
    void prepare(@TempDir Path temporary) {
        folder = temporary;
        fixture = new TensorFlowFixture(folder)
                .model("one", TENSORS, 1, 2, 3)
                .model("two", TENSORS, 5)
                .model("broken", TENSORS + "parameters { key: \"fail\" value { string_value: \"no such luck\" } }", 7)
                .openList();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private ModelConfig.Builder model(String name, String directory) {
        return ModelConfig.newBuilder()
                .setName(name)
                .setBasePath(folder.resolve(directory).toString())
                .setModelPlatform("tensorflow");
    }

    private ReloadConfigResponse reload(ModelConfig.Builder... models) {
        ModelServerConfig.Builder config = ModelServerConfig.newBuilder();
        config.getModelConfigListBuilder();
        for (ModelConfig.Builder model : models) {
            config.getModelConfigListBuilder().addConfig(model);
        }
        return fixture.models()
                .handleReloadConfigRequest(
                        ReloadConfigRequest.newBuilder().setConfig(config).build());
    }

    private List<Long> available(String name) {
        GetModelStatusRequest request = GetModelStatusRequest.newBuilder()
                .setModelSpec(ModelSpec.newBuilder().setName(name))
                .build();
        return fixture.models().getModelStatus(request).getModelVersionStatusList().stream()
                .filter(version -> version.getState() == ModelVersionStatus.State.AVAILABLE)
                .map(ModelVersionStatus::getVersion)
                .toList();
    }

    /** The version that a label stands for. */
    private long labelled(String name, String label) {
        return fixture.prediction()
                .getModelMetadata(GetModelMetadataRequest.newBuilder()
                        .setModelSpec(ModelSpec.newBuilder().setName(name).setVersionLabel(label))
                        .addMetadataField("signature_def")
                        .build())
                .getModelSpec()
                .getVersion()
                .getValue();
    }

    @Test
    void shouldServeWhatTheNewListNamesAndNothingElse() {
        ReloadConfigResponse response = reload(model("a", "one"), model("b", "two"));

        assertThat(response.getStatus().getErrorCode()).isEqualTo(Code.OK);
        assertThat(available("a")).containsExactly(3L);
        assertThat(available("b")).containsExactly(5L);

        reload(model("b", "two"));
        assertThat(available("b")).containsExactly(5L);
        fixture.awaitUnloaded("a");
    }

    @Test
    void shouldServeTheVersionsThatThePolicyNames() {
        ModelConfig.Builder model = model("a", "one");
        model.getModelVersionPolicyBuilder().getAllBuilder();
        reload(model);
        assertThat(available("a")).containsExactly(3L, 2L, 1L);

        model.getModelVersionPolicyBuilder().getSpecificBuilder().addVersions(1).addVersions(3);
        reload(model);
        assertThat(available("a")).contains(3L, 1L);

        model.getModelVersionPolicyBuilder().getLatestBuilder().setNumVersions(2);
        reload(model);
        assertThat(available("a")).contains(3L, 2L);
    }

    @Test
    void shouldLetClientsAskByLabel() {
        ModelConfig.Builder model = model("a", "one");
        model.getModelVersionPolicyBuilder().getAllBuilder();
        reload(model);
        reload(model.putVersionLabels("stable", 2).putVersionLabels("canary", 3));

        assertThat(labelled("a", "stable")).isEqualTo(2);
        assertThat(labelled("a", "canary")).isEqualTo(3);
        assertThat(failure(() -> labelled("a", "other")))
                .isEqualTo("INVALID_ARGUMENT Unrecognized servable version label: other");
        assertThat(failure(() -> labelled("nobody", "stable")))
                .isEqualTo("INVALID_ARGUMENT Unrecognized servable version label: stable");
    }

    @Test
    void shouldRefuseALabelForAVersionThatIsNotServed() {
        reload(model("a", "one"));

        assertThat(failure(() -> reload(model("a", "one").putVersionLabels("stable", 1))))
                .isEqualTo("FAILED_PRECONDITION Request to assign label to version 1 of model a, which is not currently"
                        + " available for inference");
        assertThat(available("a")).containsExactly(3L);
    }

    @Test
    void shouldSayWhichModelsDidNotBecomeAvailable() {
        assertThat(failure(() -> reload(model("bad", "broken"), model("b", "two"))))
                .startsWith("UNKNOWN 1 model(s) did not become available: {{{name: bad version: 7} due to error: ")
                .contains("no such luck")
                .endsWith("}, }");
        assertThat(available("b")).containsExactly(5L);
    }

    @Test
    void shouldSayThatThereIsNoFolder() {
        assertThat(failure(() -> reload(model("bad", "nothing"))))
                .isEqualTo("NOT_FOUND Could not find base path " + folder.resolve("nothing")
                        + " for servable bad with error NOT_FOUND: there is no such folder");
    }

    @Test
    void shouldRefuseListsThatAreWrongAndChangeNothing() {
        reload(model("a", "one"));

        assertThat(failure(() -> fixture.models().handleReloadConfigRequest(ReloadConfigRequest.getDefaultInstance())))
                .isEqualTo("INVALID_ARGUMENT ServerModelConfig type not supported by HandleReloadConfigRequest. Only"
                        + " ModelConfigList is currently supported");
        assertThat(failure(() -> reload(model("b", "two"), model("b", "one"))))
                .isEqualTo("INVALID_ARGUMENT Illegal to list model b multiple times in config list");
        assertThat(failure(() -> reload(model("b", "two").setBasePath("models/two"))))
                .isEqualTo("INVALID_ARGUMENT Expected model b to have an absolute path or URI; got"
                        + " base_path()=models/two");
        assertThat(failure(() -> reload(model("b", "two").setModelType(ModelType.TENSORFLOW))))
                .isEqualTo("INVALID_ARGUMENT Illegal setting both ModelServerConfig::model_type (deprecated) and"
                        + " ModelServerConfig::model_platform, model name is b");
        assertThat(failure(() -> reload(model("b", "two").clearModelPlatform())))
                .isEqualTo("INVALID_ARGUMENT Illegal setting neither ModelServerConfig::model_type (deprecated) nor"
                        + " ModelServerConfig::model_platform, model name is b");
        assertThat(failure(() -> reload(model("b", "two").setModelPlatform("caffe"))))
                .isEqualTo("INVALID_ARGUMENT Model b requests unsupported platform caffe");
        assertThat(available("a")).containsExactly(3L);
    }

    @Test
    void shouldRefuseToChangeWhatKindAModelIs() {
        reload(model("a", "one"));

        assertThat(failure(() -> reload(model("a", "one").setModelPlatform("caffe"))))
                .isEqualTo(
                        "INVALID_ARGUMENT Illegal to change a model's platform. For model a platform was tensorflow and"
                                + " new platform requested is caffe");
        assertThat(available("a")).containsExactly(3L);
    }

    @Test
    void shouldTakeTheOlderWayToSayThePlatform() {
        reload(model("b", "two").clearModelPlatform().setModelType(ModelType.TENSORFLOW));

        assertThat(available("b")).containsExactly(5L);
    }
}
