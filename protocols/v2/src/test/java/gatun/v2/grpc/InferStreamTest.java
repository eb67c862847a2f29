// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.grpc.message.InferenceStream;
import gatun.protocol.testing.TestServer;
import gatun.protocol.testing.TestServerSettings;
import gatun.testing.ReceivedMessages;
import gatun.v2.protocol.V2Protocol;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelStreamInferResponse;
import io.grpc.ClientInterceptors;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class InferStreamTest {
    private final FakeServer server = new FakeServer();
    private final TestServer edge = new TestServer(server, TestServerSettings.usual(), V2Protocol::new);
    private final ReceivedMessages<ModelStreamInferResponse> responses = new ReceivedMessages<>();

    @AfterEach
    void nothingIsLeft() {
        edge.close();
        server.awaitNothingHeld();
        server.close();
    }

    private StreamObserver<ModelInferRequest> open() {
        return GRPCInferenceServiceGrpc.newStub(edge.channel()).modelStreamInfer(responses);
    }

    private static ModelInferRequest request(String id) {
        return ModelInferRequest.newBuilder()
                .setModelName(FakeServer.MODEL)
                .setId(id)
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setName("A")
                        .setDatatype("UINT8")
                        .addShape(id.length()))
                .addRawInputContents(ByteString.copyFromUtf8(id))
                .build();
    }

    @Test
    void shouldAnswerInTheOrderOfTheRequestsThoughTheyOverlap() throws Exception {
        StreamObserver<ModelInferRequest> requests = open();
        requests.onNext(request("wait 0"));
        for (int i = 1; i < 10; i++) {
            requests.onNext(request("wait " + i));
        }
        server.awaitRunning(10);
        for (int i = 9; i >= 0; i--) {
            server.release("wait " + i);
        }

        for (int i = 0; i < 10; i++) {
            ModelStreamInferResponse answer = responses.next();
            assertThat(answer.getErrorMessage()).isEmpty();
            assertThat(answer.getInferResponse().getId()).isEqualTo("wait " + i);
            assertThat(answer.getInferResponse().getRawOutputContents(0).toStringUtf8())
                    .isEqualTo("wait " + i);
            assertThat(answer.getInferResponse().getParametersMap())
                    .containsEntry(
                            "triton_final_response",
                            InferParameter.newBuilder().setBoolParam(true).build());
        }
        requests.onCompleted();
        assertThat(responses.end().isOk()).isTrue();
    }

    @Test
    void shouldSubmitRequestsInTheOrderOfTheStream() throws Exception {
        StreamObserver<ModelInferRequest> requests = open();
        requests.onNext(ofSequence("hold 0"));
        requests.onNext(ofSequence("x").toBuilder().setModelName("unknown").build());
        for (int i = 1; i < 10; i++) {
            requests.onNext(ofSequence("step " + i));
        }
        requests.onNext(request("of none"));
        server.awaitRunning(1);
        server.release("hold 0");

        for (int i = 0; i < 12; i++) {
            responses.next();
        }
        assertThat(server.submitted)
                .containsExactly(
                        "hold 0", "step 1", "step 2", "step 3", "step 4", "step 5", "step 6", "step 7", "step 8",
                        "step 9", "of none");
        requests.onCompleted();
        assertThat(responses.end().isOk()).isTrue();
    }

    private static ModelInferRequest ofSequence(String id) {
        return request(id).toBuilder()
                .putParameters(
                        "sequence_id",
                        InferParameter.newBuilder().setInt64Param(7).build())
                .build();
    }

    @Test
    void shouldFinishWhatIsOutstandingAfterTheClientsEnd() throws Exception {
        StreamObserver<ModelInferRequest> requests = open();
        requests.onNext(request("wait a"));
        requests.onNext(request("b"));
        requests.onCompleted();
        server.release("wait a");

        assertThat(responses.next().getInferResponse().getId()).isEqualTo("wait a");
        assertThat(responses.next().getInferResponse().getId()).isEqualTo("b");
        assertThat(responses.end().isOk()).isTrue();
    }

    @Test
    void shouldReportErrorsInTheirTurnAndGoOn() throws Exception {
        StreamObserver<ModelInferRequest> requests = open();
        requests.onNext(request("wait first"));
        requests.onNext(request("refuse this"));
        requests.onNext(request("fail this"));
        requests.onNext(request("reject this"));
        requests.onNext(request("unknown").toBuilder().setModelName("nobody").build());
        requests.onNext(request("last"));
        server.release("wait first");

        assertThat(responses.next().getInferResponse().getId()).isEqualTo("wait first");
        ModelStreamInferResponse refused = responses.next();
        assertThat(refused.getErrorMessage()).isEqualTo("the runtime refused");
        assertThat(refused.getInferResponse().getId()).isEqualTo("refuse this");
        assertThat(refused.getInferResponse().getModelName()).isEmpty();
        assertThat(refused.getInferResponse().getParametersMap()).isEmpty();
        ModelStreamInferResponse failed = responses.next();
        assertThat(failed.getErrorMessage()).isEqualTo("the engine failed");
        assertThat(failed.getInferResponse().getModelName()).isEqualTo(FakeServer.MODEL);
        assertThat(failed.getInferResponse().getParametersMap()).containsKey("triton_final_response");
        ModelStreamInferResponse rejected = responses.next();
        assertThat(rejected.getErrorMessage()).isEqualTo("the engine rejected");
        assertThat(rejected.getInferResponse().getId()).isEqualTo("reject this");
        assertThat(rejected.getInferResponse().getModelName()).isEqualTo(FakeServer.MODEL);
        assertThat(rejected.getInferResponse().getParametersMap()).containsKey("triton_final_response");
        assertThat(responses.next().getErrorMessage()).isEqualTo("Request for unknown model: 'nobody' is not found");
        assertThat(responses.next().getInferResponse().getId()).isEqualTo("last");
        requests.onCompleted();
        assertThat(responses.end().isOk()).isTrue();
    }

    @Test
    void shouldEndTheStreamAtTheFirstErrorWhenTheClientAsks() throws Exception {
        Metadata strict = new Metadata();
        strict.put(Metadata.Key.of("triton_grpc_error", Metadata.ASCII_STRING_MARSHALLER), "true");
        StreamObserver<ModelInferRequest> requests = GRPCInferenceServiceGrpc.newStub(
                        ClientInterceptors.intercept(edge.channel(), MetadataUtils.newAttachHeadersInterceptor(strict)))
                .modelStreamInfer(responses);
        requests.onNext(request("good"));
        requests.onNext(request("refuse"));
        requests.onNext(request("too late"));

        assertThat(responses.next().getInferResponse().getId()).isEqualTo("good");
        assertThat(responses.end().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(responses.end().getDescription()).isEqualTo("the runtime refused");
        assertThat(responses.isEmpty()).as("nothing more came").isTrue();
    }

    @Test
    void shouldCarryMuchMoreThanTheWindows() throws Exception {
        StreamObserver<ModelInferRequest> requests = open();
        int count = 200;
        ByteString data = ByteString.copyFrom(new byte[300_000]);
        ModelInferRequest.Builder request = ModelInferRequest.newBuilder()
                .setModelName(FakeServer.MODEL)
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setName("A")
                        .setDatatype("UINT8")
                        .addShape(data.size()))
                .addRawInputContents(data);
        for (int i = 0; i < count; i++) {
            requests.onNext(request.setId("r" + i).build());
        }
        requests.onCompleted();

        for (int i = 0; i < count; i++) {
            ModelStreamInferResponse answer = responses.next();
            assertThat(answer.getInferResponse().getId()).isEqualTo("r" + i);
            assertThat(answer.getInferResponse().getRawOutputContents(0).size()).isEqualTo(data.size());
        }
        assertThat(responses.end().isOk()).isTrue();
        assertThat(server.mostRunning()).isLessThanOrEqualTo(InferenceStream.MAX_IN_FLIGHT);
    }

    @Test
    void shouldGiveEverythingBackWhenTheClientCancels() throws Exception {
        Context.CancellableContext client = Context.current().withCancellation();
        client.run(() -> {
            StreamObserver<ModelInferRequest> requests = open();
            requests.onNext(request("a"));
            requests.onNext(request("wait b"));
            requests.onNext(request("c"));
        });
        assertThat(responses.next().getInferResponse().getId()).isEqualTo("a");

        client.cancel(new IllegalStateException("enough"));

        assertThat(responses.end().getCode()).isEqualTo(Status.Code.CANCELLED);
        server.release("wait b");
    }

    private static ModelInferRequest several(String id, int count) {
        return request(id).toBuilder()
                .setModelName(FakeServer.DECOUPLED)
                .setInputs(
                        0,
                        ModelInferRequest.InferInputTensor.newBuilder()
                                .setName("A")
                                .setDatatype("UINT8")
                                .addShape(count))
                .setRawInputContents(0, ByteString.copyFrom(new byte[count]))
                .build();
    }

    private static boolean isFinal(ModelStreamInferResponse answer) {
        return answer.getInferResponse()
                .getParametersOrThrow("triton_final_response")
                .getBoolParam();
    }

    @Test
    void shouldSendEachResponseOfADecoupledModelAndNothingAfterThem() throws Exception {
        StreamObserver<ModelInferRequest> requests = open();
        requests.onNext(several("a", 3));
        requests.onNext(several("none", 0));
        requests.onCompleted();

        for (int i = 0; i < 3; i++) {
            ModelStreamInferResponse answer = responses.next();
            assertThat(answer.getInferResponse().getId()).isEqualTo("a");
            assertThat(answer.getInferResponse().getModelName()).isEqualTo(FakeServer.DECOUPLED);
            assertThat(answer.getInferResponse().getOutputsCount()).isEqualTo(1);
            assertThat(isFinal(answer)).isFalse();
        }
        assertThat(responses.end().isOk()).isTrue();
        assertThat(responses.isEmpty()).as("nothing more came").isTrue();
    }

    @Test
    void shouldEndTheResponsesOfADecoupledModelWithAnEmptyOneWhereTheClientAsks() throws Exception {
        InferParameter wanted = InferParameter.newBuilder().setBoolParam(true).build();
        StreamObserver<ModelInferRequest> requests = open();
        requests.onNext(several("a", 1).toBuilder()
                .putParameters("triton_enable_empty_final_response", wanted)
                .build());

        assertThat(isFinal(responses.next())).isFalse();
        ModelStreamInferResponse end = responses.next();
        assertThat(isFinal(end)).isTrue();
        assertThat(end.getErrorMessage()).isEmpty();
        assertThat(end.getInferResponse().getId()).isEqualTo("a");
        assertThat(end.getInferResponse().getModelName()).isEqualTo(FakeServer.DECOUPLED);
        assertThat(end.getInferResponse().getModelVersion()).isEqualTo("3");
        assertThat(end.getInferResponse().getOutputsCount()).isZero();

        requests.onNext(several("last b", 2).toBuilder()
                .putParameters("triton_enable_empty_final_response", wanted)
                .build());
        requests.onCompleted();
        assertThat(isFinal(responses.next())).isFalse();
        assertThat(isFinal(responses.next()))
                .as("the last response says it itself")
                .isTrue();
        assertThat(responses.end().isOk()).isTrue();
        assertThat(responses.isEmpty()).as("nothing more came").isTrue();
    }

    @Test
    void shouldNotMakeADecoupledModelWaitForAnswersInOrder() throws Exception {
        StreamObserver<ModelInferRequest> requests = open();
        requests.onNext(request("wait first"));
        requests.onNext(several("b", 2));
        requests.onCompleted();

        assertThat(responses.next().getInferResponse().getId()).isEqualTo("b");
        assertThat(responses.next().getInferResponse().getId()).isEqualTo("b");
        server.release("wait first");
        assertThat(responses.next().getInferResponse().getId()).isEqualTo("wait first");
        assertThat(responses.end().isOk()).isTrue();
    }

    @Test
    void shouldReportTheFailureOfADecoupledModelAfterItsResponses() throws Exception {
        StreamObserver<ModelInferRequest> requests = open();
        requests.onNext(several("fail a", 1));
        requests.onNext(several("last b", 1));
        requests.onCompleted();

        List<ModelStreamInferResponse> a = new ArrayList<>();
        List<ModelStreamInferResponse> b = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            ModelStreamInferResponse answer = responses.next();
            (answer.getInferResponse().getId().equals("fail a") ? a : b).add(answer);
        }
        assertThat(a).hasSize(2);
        assertThat(a.getFirst().getErrorMessage()).isEmpty();
        assertThat(a.getLast().getErrorMessage()).isEqualTo("the engine failed");
        assertThat(isFinal(a.getLast())).isTrue();
        assertThat(b).hasSize(1);
        assertThat(responses.end().isOk()).isTrue();
    }

    @Test
    void shouldEndADecoupledModelsRunWhenTheClientCancels() throws Exception {
        Context.CancellableContext client = Context.current().withCancellation();
        client.run(() -> open().onNext(several("endless", 1000)));
        assertThat(responses.next().getInferResponse().getId()).isEqualTo("endless");

        client.cancel(new IllegalStateException("enough"));

        assertThat(responses.end().getCode()).isEqualTo(Status.Code.CANCELLED);
        server.awaitNothingHeld();
        server.awaitNothingRunning();
    }

    @Test
    void shouldWaitForAClientThatDoesNotRead() throws Exception {
        ManualClient slow = new ManualClient();
        GRPCInferenceServiceGrpc.newStub(edge.channel()).modelStreamInfer(slow);
        slow.requests.onNext(several("endless", 100_000));
        slow.take();
        long mostHeld = server.buffers().usedBytes();
        for (int i = 0; i < 50; i++) {
            slow.take();
            mostHeld = Math.max(mostHeld, server.buffers().usedBytes());
        }
        // The request, the responses on their way, and those that wait for the window.
        assertThat(mostHeld).isLessThan(10 * 131_072L);
        slow.requests.cancel("enough", null);
        server.awaitNothingRunning();
    }

    /** Takes one message at a time. */
    private static final class ManualClient
            implements ClientResponseObserver<ModelInferRequest, ModelStreamInferResponse> {
        private final BlockingQueue<ModelStreamInferResponse> received = new LinkedBlockingQueue<>();

        @SuppressWarnings("NullAway.Init") // set before each use
        private ClientCallStreamObserver<ModelInferRequest> requests;

        @Override
        public void beforeStart(ClientCallStreamObserver<ModelInferRequest> stream) {
            requests = stream;
            stream.disableAutoRequestWithInitial(0);
        }

        void take() throws InterruptedException {
            requests.request(1);
            assertThat(received.poll(20, TimeUnit.SECONDS))
                    .as("an answer within 20 s")
                    .isNotNull();
        }

        @Override
        public void onNext(ModelStreamInferResponse response) {
            received.add(response);
        }

        @Override
        public void onError(Throwable t) {
            // The test cancels the call.
        }

        @Override
        public void onCompleted() {
            // An endless stream never completes.
        }
    }
}
