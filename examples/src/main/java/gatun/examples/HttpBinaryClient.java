// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import java.net.URI;

/** JSON that describes the tensors, and their raw bytes behind it, both ways. */
final class HttpBinaryClient implements DigitClient {
    private final HttpConnection connection;

    HttpBinaryClient(URI server) {
        connection = new HttpConnection(server);
    }

    @Override
    public float[] probabilities(DigitPicture picture) {
        byte[] pixels = FloatBytes.of(picture.pixels());
        InferBody body = new InferBody();
        body.input().putObject("parameters").put("binary_data_size", pixels.length);
        body.output().putObject("parameters").put("binary_data", true);
        return FloatBytes.toFloats(
                connection.post(InferBody.PATH, body.json(), pixels).tensors());
    }

    @Override
    public void close() {
        connection.close();
    }
}
