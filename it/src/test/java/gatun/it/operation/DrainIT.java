// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.RawGrpc;
import gatun.it.harness.RawHttp;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import gatun.testing.Certificates;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.tensorflow.DataType;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.tensorflow.serving.PredictResponse;
import gatun.wire.tensorflow.serving.PredictionServiceGrpc;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The handling of requests and connections while the server stops or drains. */
@Timeout(120)
class DrainIT {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String SLOW = infer("slow");

    @TempDir
    Path folder;

    private static String infer(String model) {
        String body = "{\"inputs\":[{\"name\":\"IN\",\"shape\":[1],\"datatype\":\"INT32\",\"data\":[5]}]}";
        return "POST /v2/models/" + model + "/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + body;
    }

    private Path repository() throws Exception {
        Path repository = Files.createDirectory(folder.resolve("models"));
        new ModelRepositoryFolder(repository).delay("slow", 300);
        new ModelRepositoryFolder(repository).delay("fast", 0);
        return repository;
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port);
    }

    @Test
    void shouldAnswerAllThatItHasReadBeforeItStops() throws Exception {
        Certificates certificates = new Certificates(folder);
        Certificates.Identity identity = certificates.identity("server");
        Certificates.Identity renewed = certificates.identity("renewed");
        Path certificate = Files.copy(identity.certificate(), folder.resolve("tls.crt"));
        Path key = Files.copy(identity.key(), folder.resolve("tls.key"));
        Path socket = folder.resolve("http.sock");
        try (ServerProcess server = ServerProcess.launch(
                        repository(),
                        "--http-unix-socket=" + socket,
                        "--http-server-cert=" + certificate,
                        "--http-server-key=" + key);
                HttpClient https = HttpClient.newBuilder()
                        .sslContext(Certificates.client(identity.certificate(), Optional.empty()))
                        .build()) {
            SocketAddress address = UnixDomainSocketAddress.of(socket);
            List<RawHttp> connections = new ArrayList<>();
            try {
                for (int i = 0; i < 8; i++) {
                    RawHttp connection = RawHttp.connect(address);
                    connections.add(connection);
                    connection.send(infer("fast"));
                    connection.readBody("HTTP/1.1 200");
                }
                assertThat(https.send(slow(server), HttpResponse.BodyHandlers.ofString())
                                .statusCode())
                        .isEqualTo(200);
                Files.copy(renewed.certificate(), certificate, StandardCopyOption.REPLACE_EXISTING);
                Files.copy(renewed.key(), key, StandardCopyOption.REPLACE_EXISTING);
                server.signal("HUP");
                awaitCertificate(server, renewed);
                for (RawHttp connection : connections) {
                    connection.send(SLOW);
                }
                // A reader of something that is not plain, too.
                connections.getFirst().send(SLOW.replace("Host", "TE: trailers\r\nHost"));
                CompletableFuture<HttpResponse<String>> secured =
                        https.sendAsync(slow(server), HttpResponse.BodyHandlers.ofString());
                awaitSlowRequests(server, 10);
                server.terminate();

                for (RawHttp connection : connections) {
                    assertThat(new String(connection.readBody("HTTP/1.1 200"), StandardCharsets.UTF_8))
                            .contains("\"data\":[5]");
                }
                assertThat(secured.get(LIMIT.toSeconds(), TimeUnit.SECONDS).statusCode())
                        .isEqualTo(200);
                assertThat(connections.getLast().readUntil("nothing more")).isEmpty();
            } finally {
                for (RawHttp connection : connections) {
                    connection.close();
                }
            }
            assertThat(server.awaitExit(LIMIT)).isZero();
        }
    }

    /** Waits until new connections are shown a certificate; the old ones go on. */
    private static void awaitCertificate(ServerProcess server, Certificates.Identity expected) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(server.http("/v2/health/live"))
                .timeout(LIMIT)
                .build();
        try (HttpClient fresh = HttpClient.newBuilder()
                .sslContext(Certificates.client(expected.certificate(), Optional.empty()))
                .build()) {
            Await.until("the certificate", () -> {
                try {
                    return fresh.send(request, HttpResponse.BodyHandlers.ofString())
                                    .statusCode()
                            == 200;
                } catch (SSLHandshakeException e) {
                    return false; // it is the old one still
                }
            });
        }
    }

    private static HttpRequest slow(ServerProcess server) {
        return HttpRequest.newBuilder(server.http("/v2/models/slow/infer"))
                .timeout(LIMIT)
                .POST(HttpRequest.BodyPublishers.ofString(SLOW.substring(SLOW.indexOf("{\"inputs"))))
                .build();
    }

    /** Waits until so many requests wait for the slow model or are run by it. */
    private static void awaitSlowRequests(ServerProcess server, int count) throws Exception {
        String line = "nv_inference_pending_request_count{model=\"slow\",version=\"1\"} ";
        HttpRequest request =
                HttpRequest.newBuilder(server.metrics()).timeout(LIMIT).build();
        try (HttpClient http = HttpClient.newHttpClient()) {
            int least = count / 2; // some have been answered since they were sent, and one runs
            Await.until("the queue of the slow model", () -> http.send(request, HttpResponse.BodyHandlers.ofLines())
                    .body()
                    .filter(text -> text.startsWith(line))
                    .anyMatch(text -> Double.parseDouble(text.substring(line.length())) >= least));
        }
    }

    @Test
    void shouldServeWithoutBeingReadyWhileItDrains() throws Exception {
        Path log = folder.resolve("gatun.log");
        try (ServerProcess server = ServerProcess.launch(repository(), "--drain-secs=600", "--log-file=" + log);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort());
                RawHttp kept = RawHttp.connect(loopback(server.httpPort()));
                RawGrpc opened = RawGrpc.call(loopback(server.grpcPort()), "ServerLive")) {
            assertThat(opened.message(0).end().awaitTrailers().get("grpc-status"))
                    .isEqualTo("0");
            Files.move(log, folder.resolve("gatun.log.1"));
            server.signal("HUP");
            awaitFile(log);
            kept.send(infer("fast"));
            assertThat(kept.readUntil("\r\n\r\n")).startsWith("HTTP/1.1 200").doesNotContain("close");
            kept.readUntil("}]}");
            Iterator<HealthCheckResponse> watch = HealthGrpc.newBlockingStub(grpc.channel())
                    .withDeadlineAfter(LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .watch(HealthCheckRequest.getDefaultInstance());
            assertThat(watch.next().getStatus()).isEqualTo(ServingStatus.SERVING);

            server.terminate();

            assertThat(watch.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
            kept.send(infer("fast"));
            assertThat(kept.readUntil("}]}")).startsWith("HTTP/1.1 200").contains("Connection: close");
            assertThat(kept.readUntil("nothing more")).isEmpty();
            try (RawHttp fresh = RawHttp.connect(loopback(server.httpPort()))) {
                fresh.send("GET /v2/health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n");
                assertThat(fresh.readUntil("\r\n\r\n"))
                        .startsWith("HTTP/1.1 400")
                        .contains("Connection: close");
            }
            // Who stays all the same is served.
            opened.awaitGoAway();
            opened.next("ServerLive");
            assertThat(opened.message(0).end().awaitTrailers().get("grpc-status"))
                    .isEqualTo("0");
            // Pipelined requests are all answered, and the last one ends the connection.
            try (RawHttp fresh = RawHttp.connect(loopback(server.httpPort()))) {
                fresh.send(infer("fast") + infer("slow") + infer("fast"));
                fresh.readBody("HTTP/1.1 200");
                fresh.readBody("HTTP/1.1 200");
                assertThat(fresh.readUntil("}]}")).startsWith("HTTP/1.1 200").contains("Connection: close");
            }
            // Who never ends sending is cut off after 256 responses, and gets them all.
            try (RawHttp fresh = RawHttp.connect(loopback(server.httpPort()))) {
                fresh.send(infer("fast").repeat(600));
                String responses = fresh.readUntil("nothing more");
                assertThat(responses.split("HTTP/1.1 200", -1)).hasSize(1 + 256);
                assertThat(responses).containsOnlyOnce("Connection: close");
            }
            assertThat(server.handle().isAlive()).isTrue();
            assertAllProtocolsAnsweredAtStop(server, grpc);
            assertThat(Files.readString(log)).contains("Draining").contains("Stopped");
        }
    }

    /** Stops the server while the slow model has requests of every protocol, running and queued, over plain TCP. */
    private static void assertAllProtocolsAnsweredAtStop(ServerProcess server, GrpcClient grpc) throws Exception {
        String rest = "{\"inputs\":{\"IN\":[5]}}";
        List<RawHttp> single = new ArrayList<>();
        try (RawHttp pipelining = RawHttp.connect(loopback(server.httpPort()))) {
            for (String request : List.of(
                    SLOW,
                    "POST /v1/models/slow:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + rest.length()
                            + "\r\n\r\n" + rest,
                    "POST /api/infer/slow HTTP/1.1\r\nHost: localhost\r\nNV-InferRequest: batch_size: 1 input { name: \"IN\" }"
                            + " output { name: \"OUT\" }\r\nContent-Length: 4\r\n\r\n\5\0\0\0")) {
                RawHttp connection = RawHttp.connect(loopback(server.httpPort()));
                single.add(connection);
                connection.send(request);
            }
            pipelining.send(SLOW + SLOW);
            ListenableFuture<ModelInferResponse> infer =
                    GRPCInferenceServiceGrpc.newFutureStub(grpc.channel()).modelInfer(inference());
            ListenableFuture<PredictResponse> predict =
                    PredictionServiceGrpc.newFutureStub(grpc.channel()).predict(prediction());
            awaitSlowRequests(server, 7);

            server.terminate();

            pipelining.send(infer("fast"));
            for (RawHttp connection : single) {
                assertThat(connection.readUntil("nothing more"))
                        .startsWith("HTTP/1.1 200")
                        .contains("Connection: close")
                        .containsPattern("5|\5");
            }
            assertThat(infer.get(LIMIT.toSeconds(), TimeUnit.SECONDS).getModelName())
                    .isEqualTo("slow");
            assertThat(predict.get(LIMIT.toSeconds(), TimeUnit.SECONDS).getOutputsMap())
                    .containsKey("OUT");
            // Requests that the server had begun are answered; those sent behind them are answered or cut off, and
            // never refused.
            assertThat(pipelining.readUntil("nothing more"))
                    .startsWith("HTTP/1.1 200")
                    .contains("Connection: close")
                    .doesNotContain("HTTP/1.1 503");
        } finally {
            for (RawHttp connection : single) {
                connection.close();
            }
        }
        assertThat(server.awaitExit(LIMIT)).isZero();
    }

    private static ModelInferRequest inference() {
        return ModelInferRequest.newBuilder()
                .setModelName("slow")
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setName("IN")
                        .setDatatype("INT32")
                        .addShape(1))
                .addRawInputContents(ByteString.copyFrom(SimpleModel.bytes(new int[] {5})))
                .build();
    }

    private static PredictRequest prediction() {
        TensorProto.Builder tensor =
                TensorProto.newBuilder().setDtype(DataType.DT_INT32).addIntVal(5);
        tensor.getTensorShapeBuilder().addDimBuilder().setSize(1);
        PredictRequest.Builder request = PredictRequest.newBuilder().putInputs("IN", tensor.build());
        request.getModelSpecBuilder().setName("slow");
        return request.build();
    }

    @Test
    void shouldNotLeaveTheReadyFileOfAServerThatWasKilled() throws Exception {
        Path left;
        try (ServerProcess killed = ServerProcess.launch(repository())) {
            left = killed.readyPath();
            killed.handle().destroyForcibly();
            killed.awaitExit(LIMIT);
        }
        assertThat(left).exists();
        assertThat(ServerProcess.run("serve", "--model-repository=" + folder.resolve("none"), "--ready-file=" + left)
                        .log())
                .contains("is not a folder");
        assertThat(left).doesNotExist();
    }

    private static void awaitFile(Path file) {
        Await.until(file.toString(), () -> Files.exists(file));
    }
}
