// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.structure.toy.ToyProtocolProvider;
import gatun.protocol.ProtocolProvider;
import gatun.wire.v1.GRPCServiceGrpc;
import gatun.wire.v1.HealthRequest;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.io.InputStream;
import java.lang.module.ModuleFinder;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Protocols that the server speaks because their jars are there. */
class ProtocolIT {
    @TempDir
    Path folder;

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

    /** The toy protocol in a jar, as its author would deliver it. */
    private Path toy() throws Exception {
        Path jar = folder.resolve("toy.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new ZipEntry("META-INF/services/" + ProtocolProvider.class.getName()));
            out.write(ToyProtocolProvider.class.getName().getBytes(UTF_8));
            String type = ToyProtocolProvider.class.getName().replace('.', '/') + ".class";
            out.putNextEntry(new ZipEntry(type));
            try (InputStream in = ToyProtocolProvider.class.getClassLoader().getResourceAsStream(type)) {
                Objects.requireNonNull(in).transferTo(out);
            }
        }
        return jar;
    }

    @Test
    void shouldSpeakAProtocolWhoseJarIsAdded() throws Exception {
        Map<String, String> environment = Map.of("GATUN_JAVA_OPTS", "-cp " + toy());
        try (ServerProcess server = ServerProcess.launch(
                ServerProcess.exampleModels(),
                environment,
                "--toy-addend=5",
                "--toy-port=0",
                "--metrics-config=histogram_latencies=true")) {
            HttpApi http = new HttpApi(server);
            assertThat(http.get("/v1/toy/37").body()).isEqualTo("{\"sum\":42}");
            assertThat(http.get("/v1/models/simple").statusCode())
                    .as("the other protocol under /v1/")
                    .isEqualTo(200);
            assertThat(http.get("/v1/toy/37/38").body())
                    .as("its own answer to a path that nobody knows")
                    .isEqualTo("{\"error\":\"Not Found\"}");
            assertThat(http.get("/v1/trains").body()).contains("Malformed request: GET /v1/trains");
            assertThat(http.get("/openapi.json").body()).contains("/v1/toy/{number}");
            assertThat(server.output()).contains("\nToy      " + server.ready("toy.url") + "\n");

            URI own = URI.create("http://127.0.0.1:" + server.ready("toy.port") + "/");
            assertThat(status(http, own.resolve("/v1/toy/1"))).isEqualTo(200);
            assertThat(status(http, own.resolve("/v2/health/live"))).isEqualTo(404);
            assertThat(http.send(HttpRequest.newBuilder(server.metrics()), BodyHandlers.ofString())
                            .body())
                    .contains("protocol=\"toy\",stage=\"compute_infer\",transport=\"http\"");
        }
        try (ServerProcess help = ServerProcess.start(List.of("serve", "--help"), environment)) {
            help.awaitExit(Duration.ofSeconds(30));
            assertThat(help.output()).contains("\nToy protocol:\n  --toy-port=PORT ", "\n  --toy-addend=N ");
        }
    }

    private static int status(HttpApi http, URI uri) {
        return http.send(HttpRequest.newBuilder(uri), BodyHandlers.ofString()).statusCode();
    }
}
