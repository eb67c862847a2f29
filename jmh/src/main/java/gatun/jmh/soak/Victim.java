// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.soak;

import gatun.client.GatunClient;
import gatun.client.SharedTensors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A client in a process of its own that asks in shared memory until it is killed. */
final class Victim {
    private Victim() {}

    /** Arguments: the URL of the server. */
    public static void main(String[] arguments) {
        try (GatunClient client = GatunClient.connect(arguments[0]);
                SharedTensors tensors = SharedTensors.sealed(client, "simple").open()) {
            while (true) {
                tensors.infer();
                System.out.write('.');
                System.out.flush();
            }
        }
    }

    /** Starts one, waits for some of its responses, and kills it in the middle of the next. */
    static void killOne(String url) throws IOException, InterruptedException {
        Process victim = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx64m",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Victim.class.getName(),
                        url))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            if (victim.getInputStream().readNBytes(20).length < 20) {
                throw new IOException("a client ended with " + victim.waitFor() + " before it could be killed");
            }
        } finally {
            victim.destroyForcibly().waitFor();
        }
    }
}
