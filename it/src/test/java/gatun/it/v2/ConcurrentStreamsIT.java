// SPDX-License-Identifier: Apache-2.0
package gatun.it.v2;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ModelStreamInferResponse;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Streams that carry much in both directions, side by side on one connection, for as long as a client may keep them.
 */
@Timeout(240)
class ConcurrentStreamsIT {
    /** How long the streams run. */
    private static final Duration RUN = Duration.ofSeconds(Integer.getInteger("gatun.it.streams-seconds", 30));

    /** How long a stream may take to answer its requests, and to end. */
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private static final int STREAMS = 16;

    /** How many responses a stream may owe, so that requests and responses meet on the wire. */
    private static final int OUTSTANDING = 3;

    /** Of FP32: 1 MiB. */
    private static final int ELEMENTS = (1 << 20) / Float.BYTES;

    /** A stream of requests to {@code identity_fp32}, no two of them alike, whose responses must be the same. */
    private static final class Echo implements ClientResponseObserver<ModelInferRequest, ModelStreamInferResponse> {
        private final int stream;
        private final long end;
        private final CompletableFuture<Long> answered = new CompletableFuture<>();

        private ClientCallStreamObserver<ModelInferRequest> requests;
        private long sent;
        private long received;

        @SuppressWarnings("NullAway.Init") // set before each use
        Echo(int stream, long end) {
            this.stream = stream;
            this.end = end;
        }

        /** How many right responses came until the stream ended in order. */
        CompletableFuture<Long> answered() {
            return answered;
        }

        @Override
        public void beforeStart(ClientCallStreamObserver<ModelInferRequest> call) {
            requests = call;
            // Called on the thread that hands over the responses, like all code below.
            call.setOnReadyHandler(this::send);
        }

        private void send() {
            while (requests.isReady() && sent - received < OUTSTANDING && System.nanoTime() - end < 0) {
                requests.onNext(request(sent++));
            }
        }

        @Override
        public void onNext(ModelStreamInferResponse answer) {
            if (answered.isDone()) {
                return;
            }
            try {
                check(answer, received++);
            } catch (AssertionError wrong) {
                answered.completeExceptionally(wrong);
                requests.cancel("a wrong answer", wrong);
                return;
            }
            send();
            if (sent == received && System.nanoTime() - end >= 0) {
                requests.onCompleted();
            }
        }

        @Override
        public void onError(Throwable failure) {
            answered.completeExceptionally(
                    new AssertionError("stream " + stream + " broke after " + received + " answers", failure));
        }

        @Override
        public void onCompleted() {
            if (sent == received) {
                answered.complete(received);
            } else {
                answered.completeExceptionally(new AssertionError(
                        "stream " + stream + " ended with " + received + " answers to " + sent + " requests"));
            }
        }

        private ByteString tensor(long message) {
            byte[] bytes = new byte[ELEMENTS * Float.BYTES];
            ByteBuffer values = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            // Whole numbers that a float holds exactly; where they begin tells the stream and the message.
            int first = Math.toIntExact(STREAMS * message + stream);
            for (int i = 0; i < ELEMENTS; i++) {
                values.putFloat(first + i);
            }
            return UnsafeByteOperations.unsafeWrap(bytes);
        }

        private ModelInferRequest request(long message) {
            return ModelInferRequest.newBuilder()
                    .setModelName("identity_fp32")
                    .setId(stream + "/" + message)
                    .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                            .setName("INPUT0")
                            .setDatatype("FP32")
                            .addShape(ELEMENTS))
                    .addRawInputContents(tensor(message))
                    .build();
        }

        private void check(ModelStreamInferResponse answer, long message) {
            assertThat(answer.getErrorMessage()).isEmpty();
            ModelInferResponse response = answer.getInferResponse();
            assertThat(response.getId()).isEqualTo(stream + "/" + message);
            assertThat(response.getOutputs(0).getShapeList()).containsExactly((long) ELEMENTS);
            // Compared without AssertJ's text of a megabyte.
            if (!response.getRawOutputContents(0).equals(tensor(message))) {
                throw new AssertionError("stream " + stream + " got other bytes than it sent in message " + message);
            }
        }
    }

    @Test
    void shouldServeSixteenStreamsOfOneMebibyteEachWay() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels());
                HttpApi http = new HttpApi(server);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            long end = System.nanoTime() + RUN.toNanos();
            List<Echo> streams = new ArrayList<>();
            for (int i = 0; i < STREAMS; i++) {
                Echo echo = new Echo(i, end);
                streams.add(echo);
                GRPCInferenceServiceGrpc.newStub(grpc.channel())
                        .withDeadlineAfter(RUN.plus(LIMIT).toSeconds(), TimeUnit.SECONDS)
                        .modelStreamInfer(echo);
            }
            long responses = 0;
            for (Echo echo : streams) {
                long remaining = end - System.nanoTime() + LIMIT.toNanos();
                long own = echo.answered().get(remaining, TimeUnit.NANOSECONDS);
                assertThat(own).as("answers of one stream").isPositive();
                responses += own;
            }
            assertThat(http.metric("nv_inference_request_success{model=\"identity_fp32\""))
                    .isEqualTo((double) responses);
            assertThat(http.metric("gatun_buffer_pool_used_bytes")).isZero();
        }
    }
}
