// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

// docs/guides/client.md shows this program; a test compares the two, and runs it.
import gatun.client.GatunClient;
import gatun.client.SharedTensors;

class HelloSharedMemory {
    public static void main(String[] url) {
        try (GatunClient client = GatunClient.connect(url[0]);
                SharedTensors tensors = SharedTensors.sealed(client, "simple").open()) {
            tensors.set("INPUT0", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
            tensors.set("INPUT1", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
            tensors.infer(); // as often as you like: nothing is copied
            System.out.println(java.util.Arrays.toString(tensors.ints("OUTPUT0")));
        }
    }
}
