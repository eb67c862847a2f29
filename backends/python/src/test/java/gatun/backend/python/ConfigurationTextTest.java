// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.TextFormat;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConfigurationTextTest {
    private static final String FULL = """
            name: "m"
            backend: "python"
            max_batch_size: 8
            version_policy { specific { versions: [ 1, 9007199254740993 ] } }
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1, 16 ] reshape { shape: [ 16 ] } } ]
            output [ { name: "OUT" data_type: TYPE_STRING dims: [ 1 ] label_filename: "labels.txt" } ]
            instance_group [ { count: 2 kind: KIND_CPU gpus: [ ] } ]
            dynamic_batching {
              preferred_batch_size: [ 4, 8 ]
              max_queue_delay_microseconds: 18446744073709551615
              default_queue_policy { default_timeout_microseconds: 7 }
              priority_queue_policy { key: 3 value { default_timeout_microseconds: 9 } }
            }
            model_warmup [ {
              name: "sample"
              inputs { key: "IN" value { data_type: TYPE_FP32 dims: [ 16 ] zero_data: true } }
            } ]
            parameters { key: "threads" value { string_value: "4" } }
            metric_tags { key: "team" value: "7" }
            model_transaction_policy { decoupled: true }
            """;

    private static ModelConfig config(String text) {
        try {
            return TextFormat.parse(text, ModelConfig.class);
        } catch (TextFormat.ParseException e) {
            throw new AssertionError(e);
        }
    }

    private static JsonObject json(ModelConfig config) {
        return JsonParser.parseString(ConfigurationText.write(config)).getAsJsonObject();
    }

    /** What lies at a path of names and, in lists, numbers. */
    private static JsonElement at(JsonElement json, String path) {
        JsonElement found = json;
        for (String step : path.split("/", -1)) {
            found = found.isJsonArray()
                    ? found.getAsJsonArray().get(Integer.parseInt(step))
                    : found.getAsJsonObject().get(step);
        }
        return found;
    }

    @Test
    void shouldWriteIntegersOf64BitsAsNumbersWhereverTheyLie() {
        JsonObject json = json(config(FULL));
        assertThat(at(json, "input/0/dims")).hasToString("[-1,16]");
        assertThat(at(json, "input/0/reshape/shape")).hasToString("[16]");
        assertThat(at(json, "version_policy/specific/versions")).hasToString("[1,9007199254740993]");
        assertThat(at(json, "dynamic_batching/default_queue_policy/default_timeout_microseconds"))
                .hasToString("7");
        assertThat(at(json, "dynamic_batching/priority_queue_policy/3/default_timeout_microseconds"))
                .hasToString("9");
        assertThat(at(json, "model_warmup/0/inputs/IN/dims")).hasToString("[16]");
    }

    @Test
    void shouldWriteUnsignedIntegersThatALongDoesNotHold() {
        assertThat(at(json(config(FULL)), "dynamic_batching/max_queue_delay_microseconds"))
                .hasToString("18446744073709551615");
    }

    @Test
    void shouldWriteEverythingElseAsItIsInTheProtoFile() {
        JsonObject json = json(config(FULL));
        assertThat(at(json, "max_batch_size")).hasToString("8");
        assertThat(at(json, "input/0/data_type")).hasToString("\"TYPE_FP32\"");
        assertThat(at(json, "output/0/label_filename")).hasToString("\"labels.txt\"");
        assertThat(at(json, "instance_group/0/kind")).hasToString("\"KIND_CPU\"");
        assertThat(at(json, "dynamic_batching/preferred_batch_size")).hasToString("[4,8]");
        assertThat(at(json, "parameters/threads/string_value")).hasToString("\"4\"");
        assertThat(at(json, "metric_tags/team"))
                .as("a text that looks like a number")
                .hasToString("\"7\"");
        assertThat(at(json, "model_transaction_policy/decoupled")).hasToString("true");
    }

    @Test
    void shouldWriteScalarsListsAndMapsThatAreNotSetAndNoMessages() {
        JsonObject json = json(ModelConfig.newBuilder().setName("m").build());
        assertThat(json.get("max_batch_size")).hasToString("0");
        assertThat(json.get("platform")).hasToString("\"\"");
        assertThat(json.get("input")).hasToString("[]");
        assertThat(json.get("parameters")).hasToString("{}");
        assertThat(json.keySet())
                .doesNotContain("dynamic_batching", "model_transaction_policy", "optimization", "version_policy");
    }

    @Test
    void shouldCompleteAConfigurationByItsOwnTextToItself() {
        ModelConfig config = config(FULL);
        assertThat(ConfigurationText.completed(config, ConfigurationText.write(config)))
                .isEqualTo(config);
    }

    @Test
    void shouldTakeWhatAModelMayComplete() {
        ModelConfig completed = ConfigurationText.completed(config("name: \"m\" backend: \"python\""), """
                {
                  "name": "m",
                  "max_batch_size": 4,
                  "input": [ { "name": "IN", "data_type": "TYPE_INT8", "dims": [ 1, -1 ], "optional": true } ],
                  "output": [ { "name": "OUT", "data_type": "TYPE_BOOL", "dims": [ "2" ] } ],
                  "dynamic_batching": { },
                  "model_transaction_policy": { "decoupled": true }
                }
                """);
        assertThat(completed).isEqualTo(config("""
                        name: "m"
                        backend: "python"
                        max_batch_size: 4
                        input [ { name: "IN" data_type: TYPE_INT8 dims: [ 1, -1 ] optional: true } ]
                        output [ { name: "OUT" data_type: TYPE_BOOL dims: [ 2 ] } ]
                        dynamic_batching { }
                        model_transaction_policy { decoupled: true }
                        """));
    }

    @Test
    void shouldPassOverWhatAModelMayNotComplete() {
        ModelConfig config = config("""
                name: "m"
                backend: "python"
                instance_group [ { count: 1 } ]
                dynamic_batching { preferred_batch_size: [ 2 ] }
                parameters { key: "a" value { string_value: "b" } }
                """);
        ModelConfig completed = ConfigurationText.completed(config, """
                {
                  "name": "other",
                  "backend": "onnxruntime",
                  "default_model_filename": "other.py",
                  "instance_group": [ { "count": 100 } ],
                  "dynamic_batching": { "preferred_batch_size": [ 64 ] },
                  "parameters": { "a": { "string_value": "c" } },
                  "no_field": [ 1 ]
                }
                """);
        assertThat(completed).isEqualTo(config);
    }

    @Test
    void shouldRefuseWhatIsNoConfiguration() {
        ModelConfig config = config("name: \"m\"");
        for (String text : List.of(
                "",
                "{",
                "[]",
                "null",
                "3",
                "{\"max_batch_size\": \"many\"}",
                "{\"max_batch_size\": 3000000000}",
                "{\"input\": {\"name\": \"IN\"}}",
                "{\"input\": [{\"data_type\": \"TYPE_NONE_SUCH_\", \"dims\": \"x\"}]}")) {
            assertThatThrownBy(() -> ConfigurationText.completed(config, text))
                    .as("completed by %s", text)
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                    .hasMessageStartingWith("auto_complete_config of model 'm' gives what is no configuration: ");
        }
    }
}
