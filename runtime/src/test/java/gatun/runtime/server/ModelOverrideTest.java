// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelOverride.OverrideRefusedException;
import gatun.runtime.limits.LimitSettings;
import gatun.runtime.limits.LimitSettings.ModelLimits;
import gatun.runtime.limits.RequestLimits;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Loading with a configuration, or with files, that the request brings. */
@Timeout(60)
class ModelOverrideTest extends ExplicitControl {
    private static final String TENSORS = "\"input\":[{\"name\":\"IN\",\"data_type\":\"TYPE_FP32\",\"dims\":[-1]}],"
            + "\"output\":[{\"name\":\"OUT\",\"data_type\":\"TYPE_FP32\",\"dims\":[-1]}]";

    private static final Map<String, MemorySegment> ONE_FILE = Map.of("1/model", MemorySegment.ofArray(new byte[1]));

    @Test
    void shouldTakeAConfigurationInsteadOfTheRepositorysUntilItsFilesChange() {
        test.model("m", MODEL);
        open("m");
        test.server()
                .load(
                        "m",
                        new ModelOverride(
                                "{\"backend\":\"scripted\",\"max_batch_size\":4,"
                                        + "\"input\":[{\"name\":\"IN\",\"data_type\":\"type_fp32\",\"dims\":[-1]}],"
                                        + "\"output\":[{\"name\":\"OUT\",\"data_type\":\"TYPE_FP32\",\"dims\":[\"-1\"]}]}",
                                Map.of()));
        assertThat(test.server().model("m", "").config().getMaxBatchSize()).isEqualTo(4);
        load("m");
        assertThat(test.server().model("m", "").config().getMaxBatchSize()).isEqualTo(4);
        test.file("m/1/model", "changed");
        load("m");
        assertThat(test.server().model("m", "").config().getMaxBatchSize()).isZero();
    }

    @Test
    void shouldLoadAModelOfFilesThatTheRequestBrings() {
        open();
        String config = "{\"backend\":\"scripted\",\"version_policy\":{\"all\":{}},"
                + "\"input\":[{\"name\":\"IN\",\"data_type\":\"TYPE_FP32\",\"dims\":[-1]}],"
                + "\"output\":[{\"name\":\"OUT\",\"data_type\":\"TYPE_FP32\",\"dims\":[-1],"
                + "\"label_filename\":\"labels.txt\"}]}";
        MemorySegment labels = MemorySegment.ofArray("zero\none".getBytes(UTF_8));
        test.server()
                .load(
                        "m",
                        new ModelOverride(config, Map.of("1/model", labels, "7/model", labels, "labels.txt", labels)));
        assertThat(index()).containsExactly("m 1 READY", "m 7 READY");
        infer("m");
        assertThatThrownBy(() -> load("m"))
                .hasMessageStartingWith("failed to load 'm', failed to poll from model repository");
        infer("m");

        assertThatThrownBy(() -> test.server().load("m", new ModelOverride("", Map.of("1/model", labels))))
                .hasMessage("failed to load 'm', failed to poll from model repository: Load parameter 'config' must be"
                        + " specified for model file override");
        assertThatThrownBy(() -> test.server().load("m", new ModelOverride(config, Map.of("../1/model", labels))))
                .hasMessage("failed to load 'm', failed to poll from model repository: load parameter 'file:../1/model'"
                        + " does not name a file in the model's directory; expected file:<version>/<path>");
        assertThat(index().getFirst()).contains("load parameter 'file:../1/model' does not name a file");
    }

    /**
     * Counts that would take all memory, or for ever, and names that lead out: each is refused before anything is made
     * of it.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    "instance_group":[{"count":1000000000}] | ask for 1000000000 instances, more than the limit of 1024; the server's limit-instances
                    "instance_group":[{"count":600},{"count":600}] | ask for 1200 instances
                    "max_batch_size":2147483647 | max_batch_size of model 'm' is 2147483647, expected at most 1048576
                    "max_batch_size":1000000,"instance_group":[{"count":1000}],"sequence_batching":{} | sequences at a time
                    "sequence_batching":{"oldest":{"max_candidate_sequences":2000000000}} | max_candidate_sequences
                    "max_batch_size":8,"dynamic_batching":{"max_queue_delay_microseconds":18446744073709551615} | max_queue_delay_microseconds
                    "sequence_batching":{"max_sequence_idle_microseconds":18446744073709551615} | max_sequence_idle_microseconds
                    "model_warmup":[{"name":"w","batch_size":4000000000}] | batch_size of all warm-up samples together
                    "model_warmup":[{"name":"w","batch_size":1,"count":4000000000}] | count of all warm-up samples together
                    "model_warmup":[{"name":"w","batch_size":1,"inputs":{"IN":{"data_type":"TYPE_FP32","dims":[1000000000],"zero_data":true}}}] | limit-warm-up-byte-size
                    "default_model_filename":"/etc/shadow" | 'default_model_filename' is '/etc/shadow', which may lead out of the model's folder
                    "default_model_filename":"/no/such" | 'default_model_filename' is '/no/such', which may lead out of the model's folder
                    "default_model_filename":"a/../../2/model" | which may lead out of the model's folder
                    "cc_model_filenames":{"8.0":"../../x"} | 'cc_model_filenames' is '../../x', which may lead out of the model's folder
                    """)
    void shouldRefuseAConfigurationThatAsksForTooMuchOrLeadsOut(String fields, String reason) {
        test.model("m", MODEL);
        open("m");
        String json = "{\"backend\":\"scripted\"," + fields
                + ",\"input\":[{\"name\":\"IN\",\"data_type\":\"TYPE_FP32\",\"dims\":[-1]}],"
                + "\"output\":[{\"name\":\"OUT\",\"data_type\":\"TYPE_FP32\",\"dims\":[-1]}]}";
        assertThatThrownBy(() -> test.server().load("m", new ModelOverride(json, Map.of())))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining(reason);
        assertThat(index().getFirst()).contains(reason);
        infer("m");
    }

    @Test
    void shouldLimitModelsOfFilesThatRequestsBring() {
        test.model("m", MODEL).open(ScriptedBackend::copy, options -> options.controlMode(ControlMode.EXPLICIT)
                .onlyModels(List.of("m"))
                .limits(new LimitSettings(RequestLimits.STANDARD, new ModelLimits(1, 1, 1 << 20), 1 << 20)));
        assertThatThrownBy(() -> test.server().load("n", new ModelOverride("{\"backend\":\"scripted\"}", ONE_FILE)))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.RESOURCE_EXHAUSTED))
                .hasMessageContaining("limit-models");
        assertThat(index()).containsExactly("m 1 READY");
    }

    @Test
    void shouldRefuseAConfigurationOfMillionsOfValuesOrLevels() {
        open();
        String many = "{\"input\":[" + "{},".repeat(200_000) + "{}]}";
        assertThatThrownBy(() -> test.server().load("m", new ModelOverride(many, ONE_FILE)))
                .hasMessageContaining("more than 250000 values");
        String deep = "[".repeat(1_000_000);
        assertThatThrownBy(() -> test.server().load("m", new ModelOverride(deep, ONE_FILE)))
                .hasMessageContaining("more than 100 objects and arrays in each other");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    {                        | is not JSON: End of input
                    []                       | is not a JSON object
                    {"max_batch":3}          | max_batch
                    {"backend":"scripted","input":[{"data_type":"TYPE_FP3"}]} | TYPE_FP3
                    """)
    void shouldRefuseAConfigurationThatIsNone(String json, String reason) {
        test.model("m", MODEL);
        open("m");
        assertThatThrownBy(() -> test.server().load("m", new ModelOverride(json, Map.of())))
                .hasMessageStartingWith("failed to load 'm', failed to poll from model repository: ")
                .hasMessageContaining(reason);
        assertThat(index().getFirst()).contains(reason);
        infer("m");
    }

    /** The fields are refused before anything is made of them: the model and what the index says of it stay. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    "parameters":{"isolation":{"string_value":"process"}} | parameter 'isolation'
                    "parameters":{"isolation":{"string_value":"none"}} | parameter 'isolation'
                    "parameters":{"isolation_env._JAVA_OPTIONS":{"string_value":"-XX:OnError=x"}} | parameter 'isolation_env._JAVA_OPTIONS'
                    "backend":"other" | 'backend'
                    "default_model_filename":"2/model" | 'default_model_filename'
                    "instance_group":[{"rate_limiter":{"resources":[{"name":"R","count":1}]}}] | 'instance_group[0].rate_limiter'
                    """)
    void shouldRefuseWhatOnlyTheOperatorDecides(String fields, String named) {
        test.model("m", MODEL);
        open("m");
        assertThatThrownBy(() -> test.server().load("m", new ModelOverride("{" + fields + "}", Map.of())))
                .isInstanceOfSatisfying(OverrideRefusedException.class, e -> assertThat(e.code())
                        .isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageStartingWith("failed to load 'm': " + named);
        assertThat(index()).containsExactly("m 1 READY");
        infer("m");
    }

    @Test
    void shouldKeepTheOperatorsParametersWhereARequestLeavesThemOut() {
        String own = "parameters { key: \"own\" value { string_value: \"kept\" } }";
        test.model("m", MODEL + own);
        open("m");
        String tensors = TENSORS + ",\"parameters\":{\"requested\":{\"string_value\":\"taken\"}}";
        test.server().load("m", new ModelOverride("{\"max_batch_size\":4," + tensors + "}", Map.of()));
        ModelConfig config = test.server().model("m", "").config();
        assertThat(config.getMaxBatchSize()).isEqualTo(4);
        assertThat(config.getParametersOrThrow("own").getStringValue()).isEqualTo("kept");
        assertThat(config.getParametersOrThrow("requested").getStringValue()).isEqualTo("taken");

        // The files of a request do not free its configuration from the operator's of that name.
        test.server().load("m", new ModelOverride("{\"backend\":\"scripted\"," + tensors + "}", ONE_FILE));
        assertThat(test.server().model("m", "").config().containsParameters("own"))
                .isTrue();
        assertThatThrownBy(() -> test.server().load("m", new ModelOverride("{\"backend\":\"other\"}", ONE_FILE)))
                .hasMessageContaining("'backend'");
    }

    @Test
    void shouldTakeNoFilesOfAnEngineWithoutTheOperatorsLeave() throws IOException {
        test.model("m", MODEL).open(ScriptedBackend::copy, options -> options.controlMode(ControlMode.EXPLICIT)
                .onlyModels(List.of("m"))
                .backendOption("scripted", "allow-uploads", "false"));
        assertThatThrownBy(() -> test.server().load("n", new ModelOverride("{\"backend\":\"scripted\"}", ONE_FILE)))
                .isInstanceOf(OverrideRefusedException.class)
                .hasMessageContaining("put the model into the repository, or allow uploads with")
                .hasMessageContaining("scripted,allow-uploads=true");
        assertThat(index()).containsExactly("m 1 READY");

        // A folder of which nothing tells an engine does not get this one by a request either.
        Files.createDirectories(repository.resolve("bare/1"));
        assertThatThrownBy(() -> test.server().load("bare", new ModelOverride("{\"backend\":\"scripted\"}", Map.of())))
                .isInstanceOf(OverrideRefusedException.class);

        // A configuration alone is no program.
        test.server().load("m", new ModelOverride("{\"max_batch_size\":2," + TENSORS + "}", Map.of()));
    }

    @Test
    void shouldTakeEverythingFromWhoeverRunsTheServer() {
        test.model("m", MODEL);
        open("m");
        String config =
                "{\"backend\":\"scripted\",\"parameters\":{\"any\":{\"string_value\":\"thing\"}}," + TENSORS + "}";
        test.server().load("m", new ModelOverride(config, Map.of(), true));
        assertThat(test.server().model("m", "").config().containsParameters("any"))
                .isTrue();
    }
}
