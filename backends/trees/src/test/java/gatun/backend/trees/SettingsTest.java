// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelParameter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {
    private static Settings settings(String... namesAndValues) {
        ModelConfig.Builder config = ModelConfig.newBuilder().setName("m");
        for (int i = 0; i < namesAndValues.length; i += 2) {
            config.putParameters(
                    namesAndValues[i],
                    ModelParameter.newBuilder()
                            .setStringValue(namesAndValues[i + 1])
                            .build());
        }
        return Settings.of(config.build());
    }

    @Test
    void shouldLeaveTheChoiceToTheFileWithoutAny() {
        Settings settings = settings();
        assertThat(settings.format()).isEmpty();
        assertThat(settings.choosesClass()).isFalse();
        assertThat(settings.needsProbabilities()).isFalse();
        assertThat(settings.threshold()).isEqualTo(0.5f);
        assertThat(settings.threads()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"is_classifier", "output_class"})
    void shouldKnowBothNamesOfAClassifier(String name) {
        assertThat(settings(name, "true").choosesClass()).isTrue();
        assertThat(settings(name, "false").choosesClass()).isFalse();
        assertThat(settings(name, "false").needsProbabilities()).isTrue();
        assertThat(settings(name, "true", "predict_proba", "true").choosesClass())
                .isFalse();
    }

    @Test
    void shouldTakeWhatHasNoEffectHere() {
        assertThat(settings("storage_type", "SPARSE", "algo", "BATCH_TREE_REORG", "transfer_threshold", "3"))
                .isEqualTo(settings());
    }

    @Test
    void shouldTakeAnyNumberOfThreads() {
        assertThat(settings("cpu_nthread", "3").threads()).hasValue(3);
        assertThat(settings("cpu_nthread", "-1").threads()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "model_type, gbm, 'expected one of xgboost, xgboost_json, xgboost_ubj, lightgbm, treelite_checkpoint'",
        "output_class, yes, expected true or false",
        "predict_proba, 1, expected true or false",
        "threshold, half, 'expected a number, such as 0.5'",
        "threshold, NaN, 'expected a number, such as 0.5'",
        "cpu_nthread, 5000, 'expected a number up to 1024, or -1 for a choice'"
    })
    void shouldSayWhatIsWrong(String name, String value, String expected) {
        assertThatThrownBy(() -> settings(name, value))
                .hasMessage("parameter '" + name + "' is '" + value + "'; " + expected);
    }
}
