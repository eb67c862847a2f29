// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import gatun.client.GatunClient;
import gatun.client.SharedTensors;
import gatun.client.SharedTensorsBuilder;
import gatun.it.harness.SimpleModel;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** The main class of a client in a process of its own: opens shared tensors, infers, and does not close them. */
public final class SharedTensorsOwner {
    private SharedTensorsOwner() {}

    /** The server's address and the kind of memory. Ends when its input ends, or says so. */
    @SuppressWarnings("MustBeClosedChecker")
    public static void main(String[] arguments) throws IOException {
        GatunClient client = GatunClient.connect(arguments[0]);
        for (int i = 0; i < 3; i++) {
            SharedTensorsBuilder builder =
                    switch (arguments[1]) {
                        case "posix" -> SharedTensors.posix(client, "simple");
                        case "sealed" -> SharedTensors.sealed(client, "simple");
                        default -> SharedTensors.cuda(client, "simple", 0);
                    };
            SharedTensors tensors = builder.open();
            tensors.set("INPUT0", SimpleModel.LEFT);
            tensors.infer();
            if (tensors.ints("OUTPUT0")[1] != SimpleModel.LEFT[1]) {
                throw new AssertionError("a wrong answer");
            }
            System.out.println("opened " + tensors.region());
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String ignored = in.readLine();
    }
}
