// SPDX-License-Identifier: Apache-2.0
package gatun.it.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ChildJvm;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tensors that a client shares with the real server in the memory of a GPU. */
@Timeout(120)
class SharedTensorsCudaIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(
            () -> ServerProcess.launch(ServerProcess.exampleModels(), CudaClient.environment(), "--allow-client-shm"));

    /** The client is a process of its own: CUDA lets none open its own memory, and the tests' own has no driver. */
    @ParameterizedTest
    @ValueSource(strings = {"grpc", "http"})
    void shouldShareTheMemoryOfAGpu(String protocol) throws Exception {
        String url = protocol.equals("grpc")
                ? "grpc://127.0.0.1:" + server.grpcPort()
                : "http://127.0.0.1:" + server.httpPort();
        Map<String, String> environment = CudaClient.environment();
        try (ChildJvm sharer = ChildJvm.launch(environment, CudaTensorSharer.class, url)) {
            assertThat(sharer.awaitEnd(LIMIT)).contains("all is well");
        }
    }
}
