// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The garbage that a call of the client makes when its request was built beforehand. */
@Timeout(300)
class ClientAllocationIT {
    private static final int WARM_UP = 20_000;
    private static final int CALLS = 10_000;
    private static final long LIMIT = 2048;
    private static final int COUNT = 1 << 18;

    private static long bytesPerCall(GatunClient client, InferRequest request) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        call(client, request, WARM_UP);
        long before = threads.getCurrentThreadAllocatedBytes();
        call(client, request, CALLS);
        return (threads.getCurrentThreadAllocatedBytes() - before) / CALLS;
    }

    private static void call(GatunClient client, InferRequest request, int count) {
        for (int i = 0; i < count; i++) {
            try (InferResponse response = client.infer(request)) {
                assert response.model().equals("identity_fp32");
            }
        }
    }

    @Test
    void shouldMakeLittleGarbage(@TempDir Path folder) throws Exception {
        Path socket = folder.resolve("http.sock");
        long regionBytes = 2L * COUNT * Float.BYTES;
        try (ServerProcess server = ServerProcess.launch(
                        ServerProcess.exampleModels(), "--http-unix-socket=" + socket, "--allow-client-shm");
                SharedObject object = SharedObject.create(regionBytes);
                GatunClient unix = GatunClient.connect("unix:" + socket);
                GatunClient tcp = GatunClient.connect("http://127.0.0.1:" + server.httpPort());
                Arena arena = Arena.ofConfined()) {
            unix.regions().register("tensors", object.key(), 0, regionBytes);
            InferRequest inRegion = InferRequest.to("identity_fp32")
                    .inputInRegion("INPUT0", Datatype.FP32, Shape.of(COUNT), "tensors", 0, regionBytes / 2)
                    .outputInRegion("OUTPUT0", "tensors", regionBytes / 2, regionBytes / 2)
                    .build();
            assertThat(bytesPerCall(unix, inRegion)).isLessThan(LIMIT);

            MemorySegment values = arena.allocate(ValueLayout.JAVA_FLOAT, 256);
            InferRequest sent = InferRequest.to("identity_fp32")
                    .input("INPUT0", Datatype.FP32, values, 256)
                    .build();
            assertThat(bytesPerCall(unix, sent)).isLessThan(LIMIT);
            assertThat(bytesPerCall(tcp, sent)).isLessThan(LIMIT);
            unix.regions().unregister("tensors");
        }
    }
}
