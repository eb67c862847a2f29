// SPDX-License-Identifier: Apache-2.0
package gatun.it.limits;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferRequest.InferInputTensor;
import gatun.wire.inference.ModelStreamInferResponse;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that stop reading from their streams in the real server, while others go on. */
@Timeout(120)
class StalledReaderIT {
    private static final int REQUEST_BYTES = 256 << 10;
    private static final int REQUESTS = 200;

    /**
     * The most bytes of one stream: 32 requests under way, each with input and output, and the HTTP/2 windows besides.
     */
    private static final long MOST_BYTES = 2L * 32 * REQUEST_BYTES + (8 << 20);

    private static final Pattern USED = Pattern.compile("(?m)^gatun_buffer_pool_used_bytes ([0-9.eE+]+)$");

    private static final String CONFIG = """
            backend: "identity"
            max_batch_size: 0
            input [ { name: "IN" data_type: TYPE_UINT8 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_UINT8 dims: [ -1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    /** Reads only what it is told to. */
    private static final class Unreading
            implements ClientResponseObserver<ModelInferRequest, ModelStreamInferResponse> {
        private final AtomicInteger received = new AtomicInteger();

        @SuppressWarnings("NullAway.Init") // set before each use
        private ClientCallStreamObserver<ModelInferRequest> requests;

        @Override
        public void beforeStart(ClientCallStreamObserver<ModelInferRequest> stream) {
            requests = stream;
            stream.disableAutoRequestWithInitial(0);
        }

        @Override
        public void onNext(ModelStreamInferResponse response) {
            received.incrementAndGet();
        }

        @Override
        public void onError(Throwable failure) {
            // The test cancels the call.
        }

        @Override
        public void onCompleted() {
            throw new AssertionError("the stream ended though its answers were not read");
        }
    }

    private static ModelInferRequest request(ByteString data) {
        return ModelInferRequest.newBuilder()
                .setModelName("echo")
                .addInputs(InferInputTensor.newBuilder()
                        .setName("IN")
                        .setDatatype("UINT8")
                        .addShape(data.size()))
                .addRawInputContents(data)
                .build();
    }

    private static double poolBytes(HttpClient http, URI metrics) throws Exception {
        String page = http.send(
                        HttpRequest.newBuilder(metrics)
                                .timeout(Duration.ofSeconds(20))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
        Matcher used = USED.matcher(page);
        assertThat(used.find()).as(page).isTrue();
        return Double.parseDouble(used.group(1));
    }

    @Test
    void shouldServeOthersAndHoldLittleForAClientThatDoesNotRead(@TempDir Path repository) throws Exception {
        Files.createDirectories(repository.resolve("echo/1"));
        Files.writeString(repository.resolve("echo/config.pbtxt"), CONFIG);
        try (ServerProcess server = ServerProcess.launch(repository);
                GrpcClient stalling = GrpcClient.tcp(server.grpcPort());
                GrpcClient other = GrpcClient.tcp(server.grpcPort());
                HttpClient http = HttpClient.newHttpClient()) {
            Unreading unreading = new Unreading();
            GRPCInferenceServiceGrpc.newStub(stalling.channel()).modelStreamInfer(unreading);
            ByteString large = ByteString.copyFrom(new byte[REQUEST_BYTES]);
            for (int i = 0; i < REQUESTS; i++) {
                unreading.requests.onNext(request(large));
            }

            ByteString small = ByteString.copyFromUtf8("other");
            double most = 0;
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
            int answered = 0;
            while (System.nanoTime() < end || answered < 100) {
                assertThat(other.service().modelInfer(request(small)).getRawOutputContents(0))
                        .isEqualTo(small);
                answered++;
                most = Math.max(most, poolBytes(http, server.metrics()));
            }
            assertThat(most)
                    .as("bytes held of %d that were sent", (long) REQUESTS * REQUEST_BYTES)
                    .isBetween(1.0, (double) MOST_BYTES);

            unreading.requests.request(REQUESTS);
            Await.until("answers after it reads again", () -> unreading.received.get() >= REQUESTS);
            unreading.requests.cancel("enough", null);
            Await.until("what it held", () -> poolBytes(http, server.metrics()) <= 0);
        }
    }
}
