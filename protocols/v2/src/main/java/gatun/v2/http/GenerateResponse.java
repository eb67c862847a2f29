// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.json.JsonWriter;
import gatun.http.json.TensorDataWriter;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse;
import gatun.runtime.OutputTensor;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes a response as one flat object: its own members, its parameters and its outputs, by the bytes of their names.
 */
final class GenerateResponse {
    private static final Comparator<String> BY_BYTES = (one, other) ->
            Arrays.compareUnsigned(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));

    private GenerateResponse() {}

    /** Writes the value of one member. */
    private interface Value {
        void write(JsonWriter json);
    }

    /**
     * Writes {@code response}.
     *
     * @throws gatun.memory.tensor.GatunException INVALID_ARGUMENT when an output is of a datatype that has no form in
     *     JSON, perhaps after part of it has been written
     */
    static void write(JsonWriter json, InferenceResponse response) {
        Map<String, Value> members = new TreeMap<>(BY_BYTES);
        if (!response.id().isEmpty()) {
            members.put("id", target -> target.string(response.id()));
        }
        members.put("model_name", target -> target.string(response.modelName()));
        members.put("model_version", target -> target.string(response.modelVersion()));
        response.parameters()
                .forEach((name, value) ->
                        members.putIfAbsent(name, target -> InferResponseBody.writeParameter(target, value)));
        response.outputs()
                .forEach(output -> members.putIfAbsent(
                        output.tensor().spec().name(), target -> writeTensor(target, output.tensor())));
        char separator = '{';
        for (Map.Entry<String, Value> member : members.entrySet()) {
            json.raw(separator).string(member.getKey()).raw(':');
            member.getValue().write(json);
            separator = ',';
        }
        json.raw('}');
    }

    /**
     * Checks that {@link #write} can write all of {@code response}.
     *
     * @throws gatun.memory.tensor.GatunException as {@link #write}
     */
    static void requireForms(InferenceResponse response) {
        for (OutputTensor output : response.outputs()) {
            TensorDataWriter.requireForm(output.tensor().spec().datatype());
        }
    }

    private static void writeTensor(JsonWriter json, Tensor tensor) {
        TensorSpec spec = tensor.spec();
        if (spec.shape().elementCount() == 1) {
            TensorDataWriter.writeElements(json, spec.datatype(), tensor.bytes());
        } else {
            TensorDataWriter.write(json, spec.datatype(), tensor.bytes());
        }
    }
}
