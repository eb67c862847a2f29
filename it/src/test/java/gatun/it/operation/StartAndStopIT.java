// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.RawGrpc;
import gatun.it.harness.RawHttp;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelStreamInferResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the server comes up with a model that it cannot load, and how it goes down. */
class StartAndStopIT {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @TempDir
    Path folder;

    private static InetSocketAddress http(ServerProcess server) {
        return new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), server.httpPort());
    }

    private static InetSocketAddress grpc(ServerProcess server) {
        return new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), server.grpcPort());
    }

    /** A repository with one good model, and one whose file is no model. */
    private Path brokenRepository() throws IOException {
        Path repository = Files.createDirectory(folder.resolve("models"));
        Files.createDirectories(repository.resolve("good/1"));
        Files.copy(
                ServerProcess.exampleModels().resolve("identity_fp32/config.pbtxt"),
                repository.resolve("good/config.pbtxt"));
        String config = Files.readString(repository.resolve("good/config.pbtxt"));
        Files.writeString(repository.resolve("good/config.pbtxt"), config.replace("identity_fp32", "good"));
        Files.createDirectories(repository.resolve("broken/1"));
        Files.writeString(repository.resolve("broken/1/model.onnx"), "this is no model");
        return repository;
    }

    @Test
    void shouldNotStartWithAModelThatCannotBeLoaded() throws Exception {
        ServerProcess server = ServerProcess.run(
                "serve",
                "--model-repository=" + brokenRepository(),
                "--http-port=0",
                "--grpc-port=0",
                "--metrics-port=0");
        assertThat(server.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(server.output())
                .containsPattern("\\| broken +\\|.*\\| unavailable +\\|")
                .containsPattern("\\| good +\\| 1 +\\| identity +\\| ready +\\|")
                .containsPattern("(?m)^broken version 1: .*model\\.onnx");
        assertThat(server.log()).contains("--exit-on-error=false");
        assertThat(server.readyFileExists()).isFalse();
    }

    @Test
    void shouldStartWithoutIt() throws Exception {
        try (ServerProcess server = ServerProcess.launch(brokenRepository(), "--exit-on-error=false")
                        .expectErrors();
                HttpClient client = HttpClient.newHttpClient()) {
            assertThat(status(client, server, "/v2/models/good/ready")).isEqualTo(200);
            assertThat(status(client, server, "/v2/health/live")).isEqualTo(200);
            assertThat(status(client, server, "/v2/health/ready")).isNotEqualTo(200);
        }
    }

    private static int status(HttpClient client, ServerProcess server, String path) throws Exception {
        return client.send(
                        HttpRequest.newBuilder(server.http(path)).timeout(LIMIT).build(),
                        HttpResponse.BodyHandlers.ofString())
                .statusCode();
    }

    @Test
    void shouldLoadOnlyTheNamedModelsWhereThatIsExplicit() throws Exception {
        try (ServerProcess server = ServerProcess.launch(
                        ServerProcess.exampleModels(), "--model-control-mode=explicit", "--load-model=simple");
                HttpClient client = HttpClient.newHttpClient()) {
            assertThat(status(client, server, "/v2/models/simple/ready")).isEqualTo(200);
            assertThat(status(client, server, "/v2/models/digits/ready")).isNotEqualTo(200);
        }
    }

    @Test
    void shouldFinishTheRunningRequestBeforeItStops() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels());
                RawHttp connection = RawHttp.connect(http(server))) {
            InetSocketAddress address = http(server);
            String json = SimpleModel.json();
            connection.send(announce(json.length()));
            // From here on the server has the request, and waits for its body.
            assertThat(connection.readUntil("\r\n\r\n")).startsWith("HTTP/1.1 100");
            connection.send(json.substring(0, 10));

            server.terminate();
            awaitRefusal(address);
            assertThat(server.handle().isAlive()).isTrue();
            connection.send(json.substring(10));

            String answered = new String(connection.readBody("HTTP/1.1 200"), StandardCharsets.UTF_8);
            assertThat(answered).contains(SimpleModel.jsonData(SimpleModel.SUM));
            assertThat(server.awaitExit(LIMIT)).isZero();
            assertThat(server.readyFileExists()).isFalse();
            assertThat(server.log()).contains("Stopped");
        }
    }

    @Test
    void shouldTellWhoWatchesItsHealthThatItStopsAndNotWaitForThem() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels(), "--exit-timeout-secs=600");
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            Iterator<HealthCheckResponse> watch = HealthGrpc.newBlockingStub(grpc.channel())
                    .withDeadlineAfter(LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .watch(HealthCheckRequest.newBuilder()
                            .setService("inference.GRPCInferenceService")
                            .build());
            assertThat(watch.next().getStatus()).isEqualTo(ServingStatus.SERVING);

            server.terminate();

            assertThat(watch.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
            StatusRuntimeException end = catchThrowableOfType(StatusRuntimeException.class, watch::hasNext);
            assertThat(end.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(server.awaitExit(LIMIT)).isZero();
        }
    }

    @Test
    void shouldFinishTheRunningStreamBeforeItStops() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels());
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            InetSocketAddress address = grpc(server);
            BlockingQueue<Object> events = new LinkedBlockingQueue<>();
            StreamObserver<ModelInferRequest> requests = GRPCInferenceServiceGrpc.newStub(grpc.channel())
                    .withDeadlineAfter(LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .modelStreamInfer(new StreamObserver<>() {
                        @Override
                        public void onNext(ModelStreamInferResponse response) {
                            events.add(response.getInferResponse().getModelName() + response.getErrorMessage());
                        }

                        @Override
                        public void onError(Throwable failure) {
                            events.add(failure);
                        }

                        @Override
                        public void onCompleted() {
                            events.add("completed");
                        }
                    });
            requests.onNext(SimpleModel.grpc());
            assertThat(events.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("simple");

            server.terminate();
            awaitRefusal(address);
            requests.onNext(SimpleModel.grpc());
            assertThat(events.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("simple");
            requests.onCompleted();
            assertThat(events.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("completed");
            assertThat(server.awaitExit(LIMIT)).isZero();
        }
    }

    @Test
    void shouldRefuseNewCallsOfAClientThatHasNotHeardThatItStops() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels())) {
            try (RawGrpc client = RawGrpc.call(grpc(server), "ModelStreamInfer")) {
                client.next("ServerLive");
                client.message(0).end();
                assertThat(client.awaitTrailers().get("grpc-status")).isEqualTo("0");

                server.terminate();
                client.awaitGoAway();

                for (String method : List.of("ServerLive", "ServerReady")) {
                    client.next(method);
                    client.message(0).end();
                    assertRefused(client.awaitTrailers(), "Server exiting");
                }
                for (String method : List.of("ModelInfer", "ModelStreamInfer")) {
                    client.next(method);
                    client.message(0).end();
                    assertRefused(
                            client.awaitTrailers(),
                            "GRPC server is shutting down and has stopped accepting new requests.");
                }
            }
            assertThat(server.awaitExit(LIMIT)).isZero();
        }
    }

    private static void assertRefused(HttpFields trailers, String text) {
        assertThat(trailers.get("grpc-status")).isEqualTo("14");
        assertThat(trailers.get("grpc-message")).isEqualTo(text);
    }

    /** The head of a request whose body the server asks for once it deals with the request. */
    private static String announce(int contentLength) {
        return String.join(
                "\r\n",
                "POST /v2/models/simple/infer HTTP/1.1",
                "Host: localhost",
                "Expect: 100-continue",
                "Content-Length: " + contentLength,
                "",
                "");
    }

    /** Waits until nobody listens at {@code address} any more. */
    private static void awaitRefusal(InetSocketAddress address) {
        Await.until("the end of the listener at " + address, () -> {
            try (RawHttp probe = RawHttp.connect(address)) {
                assertThat(probe).isNotNull();
                return false;
            } catch (IOException e) {
                return true;
            }
        });
    }

    @Test
    void shouldStopAtOnceWhereOnlyIdleConnectionsAreLeft() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels(), "--exit-timeout-secs=60");
                RawHttp idle = RawHttp.connect(http(server));
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            idle.send("GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertThat(idle.readUntil("\r\n\r\n")).startsWith("HTTP/1.1 200");
            assertThat(grpc.service().modelInfer(SimpleModel.grpc()).getModelName())
                    .isEqualTo("simple");
            server.signal("INT");
            assertThat(server.awaitExit(LIMIT)).isZero();
        }
    }

    @Test
    void shouldEndAtOnceOnASecondInterrupt() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels(), "--exit-timeout-secs=60")
                        .expectErrors();
                RawHttp connection = RawHttp.connect(http(server))) {
            InetSocketAddress address = http(server);
            connection.send(announce(1000));
            assertThat(connection.readUntil("\r\n\r\n")).startsWith("HTTP/1.1 100");
            server.signal("INT");
            awaitRefusal(address);
            assertThat(server.handle().isAlive()).isTrue();
            server.signal("INT");
            assertThat(server.awaitExit(LIMIT)).isEqualTo(130);
        }
    }

    @Test
    void shouldCutOffARequestThatDoesNotFinishInTime() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels(), "--exit-timeout-secs=1");
                RawHttp connection = RawHttp.connect(http(server))) {
            connection.send(announce(1000));
            assertThat(connection.readUntil("\r\n\r\n")).startsWith("HTTP/1.1 100");
            server.terminate();
            assertThat(server.awaitExit(LIMIT)).isZero();
        }
    }

    @Test
    void shouldRefuseSharedMemoryUnlessAllowed() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels());
                HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest register = HttpRequest.newBuilder(server.http("/v2/systemsharedmemory/region/mine/register"))
                    .timeout(LIMIT)
                    .POST(HttpRequest.BodyPublishers.ofString("{\"key\": \"/mine\", \"offset\": 0, \"byte_size\": 64}"))
                    .build();
            assertThat(client.send(register, HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isNotEqualTo(200);
        }
    }
}
