// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.wire.v1.GRPCServiceGrpc;
import gatun.wire.v1.HealthRequest;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Protocols that the server speaks because their jars are there. */
class ProtocolIT {
    /** The modules for the Java runtime's {@code --limit-modules}: all but {@code left}. */
    private static String allModulesBut(String left) {
        return ModuleFinder.of(Path.of(System.getProperty("gatun.lib"))).findAll().stream()
                .map(module -> module.descriptor().name())
                .filter(name -> !name.equals(left))
                .collect(Collectors.joining(","));
    }

    @Test
    void shouldNotSpeakV1WhereItsJarIsLeftOut() throws Exception {
        Map<String, String> environment = Map.of("GATUN_JAVA_OPTS", "--limit-modules=" + allModulesBut("gatun.v1"));
        try (ServerProcess server =
                ServerProcess.launch(ServerProcess.exampleModels(), environment, "--start-warm-up-secs=2")) {
            HttpApi http = new HttpApi(server);
            assertThat(server.log()).contains("Warmed up by ").doesNotContain("requests of the warm-up failed");
            assertThat(http.get("/v2/models/simple/ready").statusCode()).isEqualTo(200);
            assertThat(http.get("/v1/models/simple").statusCode()).isEqualTo(200);
            assertThat(http.get("/api/health/live").statusCode()).isEqualTo(404);
            ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", server.grpcPort())
                    .usePlaintext()
                    .build();
            try {
                StatusRuntimeException failure = catchThrowableOfType(
                        StatusRuntimeException.class,
                        () -> GRPCServiceGrpc.newBlockingStub(channel).health(HealthRequest.getDefaultInstance()));
                assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
            } finally {
                channel.shutdownNow();
            }
        }
    }
}
