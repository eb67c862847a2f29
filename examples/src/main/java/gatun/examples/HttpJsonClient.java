// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.net.URI;

/** Everything in JSON: easy to read, the slowest for large tensors. */
final class HttpJsonClient implements DigitClient {
    private final HttpConnection connection;

    HttpJsonClient(URI server) {
        connection = new HttpConnection(server);
    }

    @Override
    public float[] probabilities(DigitPicture picture) {
        InferBody body = new InferBody();
        ArrayNode data = body.input().putArray("data");
        for (float pixel : picture.pixels()) {
            data.add(pixel);
        }
        JsonNode response = connection.post(InferBody.PATH, body.json()).json();
        return floats(response.path("outputs").path(0).path("data"));
    }

    @Override
    public void close() {
        connection.close();
    }

    private static float[] floats(JsonNode data) {
        float[] values = new float[data.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = data.get(i).floatValue();
        }
        return values;
    }
}
