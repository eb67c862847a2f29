// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** The JSON of one inference request, with everything but where the tensors' bytes are. */
final class InferBody {
    static final String PATH = "/v2/models/" + DigitClient.MODEL + "/infer";

    private final ObjectNode json = HttpConnection.JSON.createObjectNode();
    private final ObjectNode input;
    private final ObjectNode output;

    InferBody() {
        input = json.putArray("inputs").addObject();
        input.put("name", DigitClient.INPUT).put("datatype", "FP32");
        input.putArray("shape").add(1).add(1).add(DigitPicture.SIDE).add(DigitPicture.SIDE);
        output = json.putArray("outputs").addObject();
        output.put("name", DigitClient.OUTPUT);
    }

    ObjectNode json() {
        return json;
    }

    /** Where {@code data} or parameters of the picture go. */
    ObjectNode input() {
        return input;
    }

    /** Where parameters of the response go. */
    ObjectNode output() {
        return output;
    }
}
