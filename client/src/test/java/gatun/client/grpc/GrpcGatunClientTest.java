// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import gatun.client.ArrayTensors;
import gatun.client.ClientException;
import gatun.client.ClientOptions;
import gatun.client.Compression;
import gatun.client.DeadlineException;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.MalformedResponseException;
import gatun.client.Retries;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.TlsOptions;
import gatun.client.UnreachableException;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The client over gRPC, at servers that a test plays. */
@Timeout(60)
class GrpcGatunClientTest {
    private static final InferRequest REQUEST = InferRequest.of("model", ArrayTensors.of("IN", new int[] {1, 2}));
    private static final Retries SOON = new Retries(3, Duration.ofMillis(1), Duration.ofMillis(1));
    private static final int LIMIT_SECONDS = 30;

    /** Answers the first input as output OUT. */
    private static void echo(ModelInferRequest request, ServerCallStreamObserver<byte[]> observer) {
        ModelInferResponse response = ModelInferResponse.newBuilder()
                .setModelName(request.getModelName())
                .addOutputs(ModelInferResponse.InferOutputTensor.newBuilder()
                        .setName("OUT")
                        .setDatatype(request.getInputs(0).getDatatype())
                        .addAllShape(request.getInputs(0).getShapeList()))
                .addRawOutputContents(request.getRawInputContents(0))
                .build();
        observer.onNext(response.toByteArray());
        observer.onCompleted();
    }

    private static GatunClient client(PlayedGrpcServer server) {
        return GatunClient.connect(ClientOptions.of(server.url()).withRetries(SOON));
    }

    @Test
    void shouldTryAgainWhenTheServerCannotNow() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        try (PlayedGrpcServer server = new PlayedGrpcServer((request, observer) -> {
                    if (attempts.incrementAndGet() % 3 != 0) {
                        observer.onError(
                                Status.UNAVAILABLE.withDescription("later").asException());
                    } else {
                        echo(request, observer);
                    }
                });
                GatunClient client = client(server);
                GatunClient impatient =
                        GatunClient.connect(ClientOptions.of(server.url()).withRetries(Retries.NONE))) {
            try (InferResponse response = client.infer(REQUEST)) {
                assertThat(response.ints("OUT")).containsExactly(1, 2);
            }
            assertThat(attempts).hasValue(3);
            assertThatExceptionOfType(ServerException.class)
                    .isThrownBy(() -> impatient.infer(REQUEST))
                    .withMessage("later")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE))
                    .satisfies(e -> assertThat(e.status()).isEqualTo(14));
            assertThat(attempts).hasValue(4);
        }
    }

    @Test
    void shouldNotRepeatWhatTheServerMayHaveDoneInASequence() throws Exception {
        AtomicReference<PlayedGrpcServer> running = new AtomicReference<>();
        AtomicInteger attempts = new AtomicInteger();
        try (PlayedGrpcServer server = new PlayedGrpcServer((request, observer) -> {
                    attempts.incrementAndGet();
                    Objects.requireNonNull(running.get()).close();
                });
                GatunClient client = client(server)) {
            running.set(server);
            InferRequest request = InferRequest.to("model")
                    .input("IN", new int[1])
                    .sequence(1, true, false)
                    .build();
            assertThatExceptionOfType(UnreachableException.class)
                    .isThrownBy(() -> client.infer(request))
                    .withMessageContaining("an inference of model 'model' of " + server.url())
                    .satisfies(e -> assertThat(e.mayHaveArrived()).isTrue());
            assertThat(attempts).hasValue(1);
            assertThatExceptionOfType(UnreachableException.class)
                    .isThrownBy(() -> client.infer(request))
                    .satisfies(e -> assertThat(e.mayHaveArrived()).isFalse());
        }
    }

    @Test
    void shouldSendHeadersAndCompress() throws Exception {
        try (PlayedGrpcServer server = new PlayedGrpcServer(GrpcGatunClientTest::echo);
                GatunClient client = GatunClient.connect(ClientOptions.of(server.url())
                        .withToken("secret")
                        .withHeader("X-Team", "search")
                        .withCompression(Compression.GZIP))) {
            int[] values = new int[100_000];
            values[99_999] = 7;
            try (InferResponse response = client.infer("model", ArrayTensors.of("IN", values))) {
                assertThat(response.ints("OUT")).isEqualTo(values);
            }
            Metadata headers = server.calls.getFirst();
            assertThat(header(headers, "authorization")).isEqualTo("Bearer secret");
            assertThat(header(headers, "x-team")).isEqualTo("search");
            assertThat(header(headers, "grpc-encoding")).isEqualTo("gzip");
            assertThat(header(headers, "user-agent")).startsWith("gatun-client");
        }
    }

    private static String header(Metadata headers, String name) {
        return headers.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
    }

    @Test
    void shouldTellWhoseDeadlineItWas() throws Exception {
        try (PlayedGrpcServer silent = new PlayedGrpcServer((request, observer) -> {});
                GatunClient client = client(silent)) {
            InferRequest hurried = InferRequest.to("model")
                    .input("IN", new int[1])
                    .deadline(Duration.ofMillis(50))
                    .build();
            assertThatExceptionOfType(DeadlineException.class)
                    .isThrownBy(() -> client.infer(hurried))
                    .withMessageContaining("was not answered within the deadline of 50 ms");
        }
        try (PlayedGrpcServer late =
                        new PlayedGrpcServer((request, observer) -> observer.onError(Status.DEADLINE_EXCEEDED
                                .withDescription("too long for me")
                                .asException()));
                GatunClient client = client(late)) {
            assertThatExceptionOfType(ServerException.class)
                    .isThrownBy(() -> client.infer(REQUEST))
                    .withMessage("too long for me")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
        }
    }

    @Test
    void shouldRefuseWhatIsNoAnswer() throws Exception {
        AtomicReference<byte[]> answer = new AtomicReference<>(new byte[] {(byte) 0xff});
        AtomicInteger attempts = new AtomicInteger();
        try (PlayedGrpcServer server = new PlayedGrpcServer((request, observer) -> {
                    attempts.incrementAndGet();
                    observer.onNext(answer.get());
                    observer.onCompleted();
                });
                GatunClient client = client(server)) {
            assertThatExceptionOfType(MalformedResponseException.class)
                    .isThrownBy(() -> client.infer(REQUEST))
                    .withMessageContaining("an inference of model 'model' of " + server.url()
                            + ": the response is not a message of the protocol");
            answer.set(ModelInferResponse.newBuilder()
                    .addOutputs(ModelInferResponse.InferOutputTensor.newBuilder()
                            .setName("OUT")
                            .setDatatype("INT32")
                            .addShape(3))
                    .addRawOutputContents(ByteString.copyFrom(new byte[8]))
                    .build()
                    .toByteArray());
            assertThatExceptionOfType(MalformedResponseException.class)
                    .isThrownBy(() -> client.infer(REQUEST))
                    .withMessageContaining("has 8 bytes for output 'OUT' INT32 [3]");
            assertThat(attempts).as("made again").hasValue(2);
        }
    }

    @Test
    void shouldEndCallsWhenItIsClosed() throws Exception {
        CountDownLatch came = new CountDownLatch(1);
        try (PlayedGrpcServer silent = new PlayedGrpcServer((request, observer) -> came.countDown())) {
            GatunClient client =
                    GatunClient.connect(ClientOptions.of(silent.url()).withRetries(Retries.NONE));
            CompletableFuture<InferResponse> answer = client.inferAsync(REQUEST);
            came.await();
            client.close();
            assertThat(answer.handle((response, failure) -> failure).get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .isInstanceOf(ClientException.class);
        }
    }

    @Test
    void shouldTellTheServerThatACallWasCancelled() throws Exception {
        CountDownLatch came = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        try (PlayedGrpcServer silent = new PlayedGrpcServer((request, observer) -> {
                    observer.setOnCancelHandler(cancelled::countDown);
                    came.countDown();
                });
                GatunClient client = client(silent)) {
            CompletableFuture<InferResponse> answer = client.inferAsync(REQUEST);
            came.await();
            assertThat(answer.cancel(true)).isTrue();
            assertThat(cancelled.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(silent.calls).hasSize(1);
        }
    }

    /** The text of the failure of a server that says {@code bytes} to whoever connects. */
    private static String failureAt(String scheme, byte... bytes) throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                GatunClient client =
                        GatunClient.connect(ClientOptions.of(scheme + "://localhost:" + listener.getLocalPort())
                                .withRetries(Retries.NONE))) {
            Thread.ofVirtual().start(() -> {
                try (Socket socket = listener.accept()) {
                    socket.getOutputStream().write(bytes);
                    socket.shutdownOutput();
                    socket.getInputStream().transferTo(OutputStream.nullOutputStream());
                } catch (IOException e) {
                    // The client reports what it saw.
                    return;
                }
            });
            UnreachableException failure =
                    catchThrowableOfType(UnreachableException.class, () -> client.infer(REQUEST));
            return failure.getMessage().replace(Integer.toString(listener.getLocalPort()), "PORT");
        }
    }

    @Test
    void shouldSayWhichSchemeToTryWhereAnotherProtocolIsSpoken() throws Exception {
        assertThat(failureAt("grpc", (byte) 0x15, (byte) 3, (byte) 3, (byte) 0, (byte) 2, (byte) 2, (byte) 80))
                .endsWith("; if TLS is spoken there, use grpcs://localhost:PORT, and http://localhost:PORT if HTTP is");
        assertThat(failureAt("grpcs", new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0}))
                .endsWith("if it answers in plain text, use grpc://localhost:PORT");
    }

    @Test
    void shouldNameAHostThatIsUnknown() {
        try (GatunClient client = GatunClient.connect(
                ClientOptions.of("grpc://nosuchhost.invalid:8001").withRetries(Retries.NONE))) {
            assertThatExceptionOfType(UnreachableException.class)
                    .isThrownBy(() -> client.infer(REQUEST))
                    .withMessageContaining("the host 'nosuchhost.invalid' is unknown: check its spelling")
                    .matches(failure -> !failure.mayHaveArrived());
        }
    }

    @Test
    void shouldSayWhichFileOfTlsIsWrong(@TempDir Path folder) throws Exception {
        Path empty = Files.writeString(folder.resolve("empty.pem"), "nothing");
        ClientOptions options = ClientOptions.of("grpcs://localhost:1");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> GatunClient.connect(options.withTls(TlsOptions.trusting(empty))))
                .withMessageStartingWith("'" + empty + "' has no certificate that Java can read");
        Path missing = folder.resolve("missing.pem");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> GatunClient.connect(options.withTls(TlsOptions.trusting(missing))))
                .withMessageStartingWith("cannot read '" + missing + "': no such file or directory; expected a file");
    }
}
