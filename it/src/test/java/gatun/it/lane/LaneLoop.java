// SPDX-License-Identifier: Apache-2.0
package gatun.it.lane;

import gatun.client.GatunClient;
import gatun.client.SharedTensors;
import gatun.it.harness.SimpleModel;

/** A client in a process of its own that infers in a lane again and again, until it is killed. */
public final class LaneLoop {
    private LaneLoop() {}

    /** The argument is the server's socket. */
    public static void main(String[] arguments) {
        try (GatunClient client = GatunClient.connect("lane:" + arguments[0]);
                SharedTensors tensors = SharedTensors.sealed(client, "simple").open()) {
            tensors.set("INPUT0", SimpleModel.LEFT);
            for (long count = 0; ; count++) {
                tensors.infer();
                if (count == 100) {
                    System.out.println("running");
                }
            }
        }
    }
}
