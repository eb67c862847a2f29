// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import static gatun.tensorflow.serving.grpc.TensorFlowFixture.failure;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Int64Value;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.wire.tensorflow.Example;
import gatun.wire.tensorflow.Feature;
import gatun.wire.tensorflow.FloatList;
import gatun.wire.tensorflow.serving.ClassificationRequest;
import gatun.wire.tensorflow.serving.ClassificationResponse;
import gatun.wire.tensorflow.serving.InferenceTask;
import gatun.wire.tensorflow.serving.Input;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.MultiInferenceRequest;
import gatun.wire.tensorflow.serving.MultiInferenceResponse;
import gatun.wire.tensorflow.serving.Regression;
import gatun.wire.tensorflow.serving.RegressionRequest;
import gatun.wire.tensorflow.serving.RegressionResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Classify, Regress and MultiInference. */
@Timeout(60)
class ExampleServiceTest {
    private TensorFlowFixture fixture;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        fixture = new TensorFlowFixture(folder).model("judge", "judge", """
                        input [ { name: "inputs" data_type: TYPE_STRING dims: [ -1 ] } ]
                        output [ { name: "classes" data_type: TYPE_STRING dims: [ -1, -1 ] },
                                 { name: "scores" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
                        """, 3).open();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private static ModelSpec spec(String signature) {
        return ModelSpec.newBuilder()
                .setName("judge")
                .setSignatureName(signature)
                .build();
    }

    private static Example example(String feature, Float... values) {
        Example.Builder example = Example.newBuilder();
        example.getFeaturesBuilder()
                .putFeature(
                        feature,
                        Feature.newBuilder()
                                .setFloatList(FloatList.newBuilder().addAllValue(List.of(values)))
                                .build());
        return example.build();
    }

    private static Input twoExamples() {
        Input.Builder input = Input.newBuilder();
        input.getExampleListBuilder().addExamples(example("x", 0.5f, 0.25f)).addExamples(example("x", 2f, 3f));
        return input.build();
    }

    private ClassificationResponse classify(String signature, Input input) {
        return fixture.prediction()
                .classify(ClassificationRequest.newBuilder()
                        .setModelSpec(spec(signature))
                        .setInput(input)
                        .build());
    }

    private RegressionResponse regress(String signature, Input input) {
        return fixture.prediction()
                .regress(RegressionRequest.newBuilder()
                        .setModelSpec(spec(signature))
                        .setInput(input)
                        .build());
    }

    /** The classes as "label score" for each example. */
    private static List<List<String>> classes(ClassificationResponse response) {
        return response.getResult().getClassificationsList().stream()
                .map(row -> row.getClassesList().stream()
                        .map(entry -> entry.getLabel() + " " + entry.getScore())
                        .toList())
                .toList();
    }

    private static List<Float> values(RegressionResponse response) {
        return response.getResult().getRegressionsList().stream()
                .map(Regression::getValue)
                .toList();
    }

    @Test
    void shouldClassifyEachExample() {
        ClassificationResponse response = classify("", twoExamples());

        assertThat(classes(response)).containsExactly(List.of("c0 0.5", "c1 0.25"), List.of("c0 2.0", "c1 3.0"));
        assertThat(response.getModelSpec())
                .isEqualTo(ModelSpec.newBuilder()
                        .setName("judge")
                        .setVersion(Int64Value.of(3))
                        .build());
    }

    @Test
    void shouldLeaveOutWhatTheSignatureDoesNotGive() {
        assertThat(classes(classify("scores_only", twoExamples())))
                .containsExactly(List.of(" 0.5", " 0.25"), List.of(" 2.0", " 3.0"));
        assertThat(classes(classify("classes_only", twoExamples())))
                .containsExactly(List.of("c0 0.0", "c1 0.0"), List.of("c0 0.0", "c1 0.0"));
    }

    @Test
    void shouldGiveEveryExampleTheContext() {
        Input.Builder input = Input.newBuilder();
        input.getExampleListWithContextBuilder()
                .setContext(example("x", 7f))
                .addExamples(example("y", 1f))
                .addExamples(example("x", 9f));

        assertThat(values(regress("regress", input.build()))).containsExactly(7f, 9f);
    }

    @Test
    void shouldRegressFromAVectorOrAColumn() {
        assertThat(values(regress("regress", twoExamples()))).containsExactly(0.5f, 2f);
        RegressionResponse response = regress("column", twoExamples());
        assertThat(values(response)).containsExactly(0.5f, 2f);
        assertThat(response.getModelSpec().getSignatureName()).isEqualTo("column");
        assertThat(response.getModelSpec().getVersion().getValue()).isEqualTo(3);
    }

    @Test
    void shouldRefuseSignaturesThatDoNotClassify() {
        assertThat(failure(() -> classify("none", twoExamples())))
                .isEqualTo("INVALID_ARGUMENT No signature was found with the name: none");
        assertThat(failure(() -> classify("two_inputs", twoExamples())))
                .isEqualTo("INVALID_ARGUMENT Expected one input Tensor.");
        assertThat(failure(() -> classify("many_outputs", twoExamples())))
                .isEqualTo("INVALID_ARGUMENT Expected one or two output Tensors, found 3");
        assertThat(failure(() -> classify("other_input", twoExamples())))
                .startsWith("INVALID_ARGUMENT No classification inputs found in SignatureDef: ")
                .contains("x:0");
        assertThat(failure(() -> classify("other_output", twoExamples())))
                .startsWith("INVALID_ARGUMENT Expected classification signature outputs to contain at least one of"
                        + " \"classes\" or \"scores\". Signature was: ")
                .contains("y:0");
    }

    @Test
    void shouldRefuseSignaturesThatDoNotRegress() {
        assertThat(failure(() -> regress("none", twoExamples())))
                .isEqualTo("INVALID_ARGUMENT No signature was found with the name: none");
        assertThat(failure(() -> regress("two_inputs", twoExamples())))
                .isEqualTo("INVALID_ARGUMENT Expected one input Tensor.");
        assertThat(failure(() -> regress("", twoExamples()))).isEqualTo("INVALID_ARGUMENT Expected one output Tensor.");
        assertThat(failure(() -> regress("other_input", twoExamples())))
                .startsWith("INVALID_ARGUMENT No regression inputs found in SignatureDef: ");
        assertThat(failure(() -> regress("other_output", twoExamples())))
                .startsWith("INVALID_ARGUMENT No regression outputs found in SignatureDef: ");
    }

    @Test
    void shouldRefuseOutputsThatAreNoClasses() {
        assertThat(failure(() -> classify("flat_scores", twoExamples())))
                .isEqualTo("INVALID_ARGUMENT Expected Tensor shape: [batch_size num_classes] but got [4]");
        assertThat(failure(() -> classify("one_row_less", twoExamples())))
                .isEqualTo("INVALID_ARGUMENT Expected scores output batch size of 2. Got: 1");
        assertThat(failure(() -> classify("one_class_less", twoExamples())))
                .isEqualTo("INVALID_ARGUMENT Tensors class and score should match in dim_size(1). Got 2 vs. 1");
    }

    @Test
    void shouldRefuseOutputsThatAreNoRegression() {
        assertThat(failure(() -> regress("regress_wide", twoExamples())))
                .isEqualTo("INVALID_ARGUMENT Expected output Tensor shape to be either [batch_size] or [batch_size, 1]"
                        + " but got [2,2]");
        assertThat(failure(() -> regress("regress_short", twoExamples())))
                .isEqualTo("INVALID_ARGUMENT Input batch size did not match output batch size: 2 vs. 1");
    }

    @Test
    void shouldRefuseInputWithoutExamples() {
        Input noExamples = Input.newBuilder()
                .setExampleList(Input.getDefaultInstance().getExampleList())
                .build();
        assertThat(failure(() -> classify("", Input.getDefaultInstance())))
                .isEqualTo("INVALID_ARGUMENT Input is empty.");
        assertThat(failure(() -> regress("regress", noExamples))).isEqualTo("INVALID_ARGUMENT Input is empty.");
    }

    @Test
    void shouldRefuseRequestsForNoModel() {
        assertThat(failure(() -> fixture.prediction().classify(ClassificationRequest.getDefaultInstance())))
                .isEqualTo("INVALID_ARGUMENT Missing ModelSpec");
        assertThat(failure(() -> fixture.prediction().regress(RegressionRequest.getDefaultInstance())))
                .isEqualTo("INVALID_ARGUMENT Missing ModelSpec");
        RegressionRequest.Builder other = RegressionRequest.newBuilder();
        other.getModelSpecBuilder().setName("nobody");
        assertThat(failure(() -> fixture.prediction().regress(other.build())))
                .isEqualTo("NOT_FOUND Servable not found for request: Latest(nobody)");
    }

    private static InferenceTask task(String signature, String method) {
        return InferenceTask.newBuilder()
                .setModelSpec(spec(signature))
                .setMethodName(method)
                .build();
    }

    private MultiInferenceResponse multiInference(InferenceTask... tasks) {
        return fixture.prediction()
                .multiInference(MultiInferenceRequest.newBuilder()
                        .addAllTasks(List.of(tasks))
                        .setInput(twoExamples())
                        .build());
    }

    @Test
    void shouldDoSeveralTasksWithTheSameExamples() {
        MultiInferenceResponse response = multiInference(
                task("regress", ExampleMethod.REGRESS.signatureMethod()),
                task("", ExampleMethod.CLASSIFY.signatureMethod()));

        assertThat(response.getResultsCount()).isEqualTo(2);
        assertThat(response.getResults(0)
                        .getRegressionResult()
                        .getRegressions(1)
                        .getValue())
                .isEqualTo(2f);
        assertThat(response.getResults(0).getModelSpec().getSignatureName()).isEqualTo("regress");
        assertThat(response.getResults(1)
                        .getClassificationResult()
                        .getClassifications(1)
                        .getClasses(1)
                        .getLabel())
                .isEqualTo("c1");
    }

    @Test
    void shouldRefuseTasksThatDoNotGoTogether() {
        assertThat(failure(() -> multiInference(InferenceTask.getDefaultInstance())))
                .isEqualTo("INVALID_ARGUMENT Found ModelSpec with an empty model name.");
        InferenceTask.Builder other = task("regress", ExampleMethod.REGRESS.signatureMethod()).toBuilder();
        other.getModelSpecBuilder().setName("other");
        assertThat(failure(() -> multiInference(task("", ExampleMethod.CLASSIFY.signatureMethod()), other.build())))
                .isEqualTo("INVALID_ARGUMENT All ModelSpecs in a MultiInferenceRequest must access the same model"
                        + " name.");
        assertThat(failure(() -> multiInference(
                        task("", ExampleMethod.CLASSIFY.signatureMethod()),
                        task("serving_default", ExampleMethod.CLASSIFY.signatureMethod()))))
                .isEqualTo("INVALID_ARGUMENT Duplicate evaluation of signature: serving_default");
        assertThat(failure(() -> multiInference(task("none", ExampleMethod.CLASSIFY.signatureMethod()))))
                .isEqualTo("INVALID_ARGUMENT Requested signature not found in model graph: none");
        assertThat(failure(() -> multiInference(task("", "tensorflow/serving/predict"))))
                .isEqualTo("UNIMPLEMENTED Unsupported signature method_name: tensorflow/serving/predict");
    }
}
