// SPDX-License-Identifier: Apache-2.0
package gatun.it.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.client.ClientOptions;
import gatun.client.GatunClient;
import gatun.client.ServerException;
import gatun.client.SharedTensors;
import gatun.client.StatusCode;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Lanes of a server that does not let everybody do everything. */
@Timeout(120)
class LaneAccessIT {
    private static final String ONE =
            "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"INT32\"}],\"outputs\":[{\"name\":\"OUTPUT0\"}]}";

    @TempDir
    Path folder;

    @Test
    void shouldAskForTheTokensOfBothGroups() throws Exception {
        Path socket = folder.resolve("http");
        Path tokens = Files.writeString(folder.resolve("tokens"), "open-sesame\n");
        try (ServerProcess server = ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--allow-client-shm",
                "--http-unix-socket=" + socket,
                "--http-restricted-api=shared-memory:shm-key=secret",
                "--http-token-file=inference:" + tokens)) {
            assertThat(server.readyFileExists()).isTrue();
            try (RawLane lane = RawLane.open(socket, RawLane.SMALL, "shm-key: secret\r\n")) {
                assertThat(lane.post("401", lane.path("/models/simple/prepare"), ONE))
                        .contains("this API needs a token");
                assertThat(lane.post("401", lane.path("/drop"), "{\"prepared\":0}"))
                        .contains("token");
            }
            assertThatExceptionOfType(AssertionError.class)
                    .isThrownBy(() -> RawLane.open(socket, RawLane.SMALL, ""))
                    .withMessageContaining("HTTP/1.1 403");
            ClientOptions options = ClientOptions.of("lane:" + socket)
                    .withHeader("shm-key", "secret")
                    .withToken("open-sesame");
            try (GatunClient client = GatunClient.connect(options);
                    SharedTensors tensors =
                            SharedTensors.sealed(client, "simple").open()) {
                tensors.set("INPUT0", SimpleModel.LEFT);
                tensors.infer();
                assertThat(tensors.ints("OUTPUT0")).isEqualTo(SimpleModel.LEFT);
            }
        }
    }

    @Test
    void shouldOpenNoLaneWhereClientsShareNoMemory() throws Exception {
        Path socket = folder.resolve("http");
        try (ServerProcess server =
                        ServerProcess.launch(ServerProcess.exampleModels(), "--http-unix-socket=" + socket);
                GatunClient client = GatunClient.connect("lane:" + socket)) {
            assertThat(server.readyFileExists()).isTrue();
            assertThatExceptionOfType(ServerException.class)
                    .isThrownBy(() -> SharedTensors.sealed(client, "simple").open())
                    .matches(failure -> failure.code() == StatusCode.UNIMPLEMENTED);
            assertThatExceptionOfType(AssertionError.class)
                    .isThrownBy(() -> RawLane.open(socket))
                    .withMessageContaining("HTTP/1.1 501");
        }
    }
}
