// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import gatun.client.ArrayTensors;
import gatun.client.ClientOptions;
import gatun.client.GatunClient;
import gatun.client.InferResponse;
import java.util.Arrays;

/** A program that asks a server over HTTP and has no memory in common with it. */
public final class PlainHttpProgram {
    private PlainHttpProgram() {}

    /**
     * Asks the server in all ways.
     *
     * @param arguments the server's address, and how many numbers to send at most
     */
    public static void main(String[] arguments) {
        ClientOptions options = ClientOptions.of(arguments[0]);
        float[] numbers = new float[Integer.parseInt(arguments[1])];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = i;
        }
        for (ClientOptions form : new ClientOptions[] {options, options.withBinaryTensors(false)}) {
            try (GatunClient client = GatunClient.connect(form)) {
                client.server().ready();
                client.models().index(true);
                for (int length = 1; length <= numbers.length; length *= 10) {
                    float[] sent = Arrays.copyOf(numbers, length);
                    try (InferResponse answer =
                            client.infer("identity_fp32", ArrayTensors.of("INPUT0", sent, length))) {
                        System.out.println(length + " " + Arrays.equals(sent, answer.floats("OUTPUT0")));
                    }
                }
                try (InferResponse answer = client.inferAsync(
                                "simple_string",
                                ArrayTensors.of("INPUT0", texts(), 1, 16),
                                ArrayTensors.of("INPUT1", texts(), 1, 16))
                        .join()) {
                    System.out.println(answer.strings("OUTPUT0").get(1));
                }
            }
        }
    }

    private static String[] texts() {
        String[] texts = new String[16];
        Arrays.fill(texts, "2");
        return texts;
    }
}
