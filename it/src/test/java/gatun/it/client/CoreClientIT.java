// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.testing.Python;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The whole protocol with the client of gRPC's C core, on which Python's and C++'s stand. Skipped where Python has
 * none.
 */
@Timeout(200)
class CoreClientIT {
    private static final Path SCRIPT = ServerProcess.root().resolve("it/src/test/python/infer_client.py");
    private static final int OBJECT_SIZE = 8192;

    @TempDir
    static Path folder;

    private static String python;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(CoreClientIT::start);

    private static ServerProcess start() throws Exception {
        python = Python.with("grpc", "google.protobuf");
        return ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--allow-client-shm",
                "--grpc-unix-socket=" + folder.resolve("grpc.sock"));
    }

    private static void run(String target, String... authority) throws Exception {
        Path output = Files.createTempFile(folder, "client", ".out");
        try (SharedObject object = SharedObject.create(OBJECT_SIZE)) {
            List<String> command = new ArrayList<>(List.of(python, "-B", SCRIPT.toString(), target, object.key()));
            command.addAll(List.of(authority));
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            boolean ended;
            try {
                ended = process.waitFor(90, TimeUnit.SECONDS);
            } finally {
                process.destroyForcibly();
            }
            String said = Files.readString(output);
            assertThat(ended).as("the client's end after\n%s", said).isTrue();
            assertThat(process.exitValue()).as(said).isZero();
            assertThat(said).endsWith("all ok\n");
        }
    }

    @Test
    void shouldServeTheCCoreOverTcp() throws Exception {
        run("127.0.0.1:" + server.grpcPort());
    }

    @Test
    void shouldServeTheCCoreOverAUnixDomainSocket() throws Exception {
        run("unix:" + server.process().ready("grpc.unix-socket"));
    }

    /** Over a Unix socket the C core names its server localhost; some clients name the socket. */
    @ParameterizedTest
    @ValueSource(strings = {"/run/gatun/grpc.sock", "%2Frun%2Fgatun%2Fgrpc.sock", "unix:/run/gatun/grpc.sock"})
    void shouldServeAClientThatNamesTheSocketAsItsAuthority(String authority) throws Exception {
        run("unix:" + server.process().ready("grpc.unix-socket"), authority);
    }
}
