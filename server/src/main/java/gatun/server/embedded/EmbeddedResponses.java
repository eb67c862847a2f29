// SPDX-License-Identifier: Apache-2.0
package gatun.server.embedded;

import gatun.client.InferResponse;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.spi.ParameterValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Turns the runtime's responses into the client's, which own them. */
final class EmbeddedResponses {
    private EmbeddedResponses() {}

    /** The client's response over the memory of {@code response}, which it closes. */
    static InferResponse of(InferenceResponse response) {
        List<OutputTensor> outputs = response.outputs();
        List<Tensor> sent = new ArrayList<>(outputs.size());
        List<TensorSpec> inRegions = List.of();
        for (int i = 0; i < outputs.size(); i++) {
            OutputTensor output = outputs.get(i);
            if (!output.inSharedMemory()) {
                sent.add(output.tensor());
                continue;
            }
            if (inRegions.isEmpty()) {
                inRegions = new ArrayList<>(outputs.size());
            }
            inRegions.add(output.tensor().spec());
        }
        return new InferResponse(
                response.modelName(),
                response.modelVersion(),
                response.id(),
                sent,
                inRegions,
                parameters(response.parameters()),
                response);
    }

    private static Map<String, Object> parameters(Map<String, ParameterValue> given) {
        if (given.isEmpty()) {
            return Map.of();
        }
        Map<String, Object> parameters = new HashMap<>();
        given.forEach((name, value) -> parameters.put(name, plain(value)));
        return Map.copyOf(parameters);
    }

    private static Object plain(ParameterValue parameter) {
        return switch (parameter) {
            case ParameterValue.Bool it -> it.value();
            case ParameterValue.Int64 it -> it.value();
            case ParameterValue.Uint64 it -> it.value();
            case ParameterValue.Fp64 it -> it.value();
            case ParameterValue.Text it -> it.value();
        };
    }
}
