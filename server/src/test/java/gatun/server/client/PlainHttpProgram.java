// SPDX-License-Identifier: Apache-2.0
package gatun.server.client;

import gatun.client.ArrayTensors;
import gatun.client.GatunClient;
import gatun.client.InferResponse;
import java.util.Arrays;

/** A program that asks a server over HTTP, as one writes it first: URL. Prints the first element of the response. */
final class PlainHttpProgram {
    private PlainHttpProgram() {}

    public static void main(String[] arguments) throws Exception {
        int[] ones = new int[16];
        Arrays.fill(ones, 1);
        try (GatunClient client = GatunClient.connect(arguments[0]);
                InferResponse response = client.inferAsync(
                                "simple",
                                ArrayTensors.of("INPUT0", ones, 1, 16),
                                ArrayTensors.of("INPUT1", ones, 1, 16))
                        .get()) {
            System.out.println(client.server().ready() + " " + response.ints("OUTPUT0")[0]);
        }
    }
}
