// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A server of example models and of those in a repository of the test, of which some may be broken, with clients of it. Owns
 * them all.
 *
 * @param http its client by HTTP
 * @param grpc its client by gRPC
 */
public record ServedExamples(ServerProcess server, HttpApi http, GrpcClient grpc) implements AutoCloseable {
    /**
     * Starts it; clients may register shared memory.
     *
     * @param own the test's repository
     * @param flags of the server, besides
     */
    public static ServedExamples start(ExampleModels examples, Path own, String... flags) throws InterruptedException {
        List<String> all = new ArrayList<>(
                List.of("--model-repository=" + own, "--exit-on-error=false", "--allow-client-shm=true"));
        all.addAll(List.of(flags));
        ServerProcess server = ServerProcess.launch(examples.models(), all.toArray(String[]::new));
        return new ServedExamples(server, new HttpApi(server), GrpcClient.tcp(server.grpcPort()));
    }

    @Override
    public void close() {
        grpc.close();
        http.close();
        server.close();
    }
}
