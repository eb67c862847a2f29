// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ModelStreamInferResponse;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** One ModelStreamInfer call, its responses, and how it ended. */
public final class StreamClient {
    private static final int LIMIT_SECONDS = 20;

    private final BlockingQueue<ModelStreamInferResponse> received = new LinkedBlockingQueue<>();
    private final CompletableFuture<Status> end = new CompletableFuture<>();
    private final StreamObserver<ModelInferRequest> requests;

    private StreamClient(GrpcClient grpc) {
        requests = GRPCInferenceServiceGrpc.newStub(grpc.channel()).modelStreamInfer(new StreamObserver<>() {
            @Override
            public void onNext(ModelStreamInferResponse response) {
                received.add(response);
            }

            @Override
            public void onError(Throwable failure) {
                end.complete(Status.fromThrowable(failure));
            }

            @Override
            public void onCompleted() {
                end.complete(Status.OK);
            }
        });
    }

    /** Begins a call. */
    public static StreamClient open(GrpcClient grpc) {
        return new StreamClient(grpc);
    }

    public void send(ModelInferRequest request) {
        requests.onNext(request);
    }

    /** Says that no more requests will come. */
    public void complete() {
        requests.onCompleted();
    }

    public void cancel() {
        requests.onError(Status.CANCELLED.asRuntimeException());
    }

    /** The next response, which must come soon and be no error. */
    public ModelInferResponse next() throws InterruptedException {
        ModelStreamInferResponse response = nextMessage();
        assertThat(response.getErrorMessage()).isEmpty();
        return response.getInferResponse();
    }

    /** The next message, which must come soon. */
    public ModelStreamInferResponse nextMessage() throws InterruptedException {
        ModelStreamInferResponse response = received.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertThat(response)
                .as("an answer within %d s; the stream's end: %s", LIMIT_SECONDS, end)
                .isNotNull();
        return response;
    }

    /** How the call ended, which must be soon. */
    public Status end() throws Exception {
        return end.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    /** The responses that have come and that nobody has asked for yet. */
    public List<ModelInferResponse> rest() {
        List<ModelInferResponse> rest = new ArrayList<>();
        for (ModelStreamInferResponse response = received.poll(); response != null; response = received.poll()) {
            assertThat(response.getErrorMessage()).isEmpty();
            rest.add(response.getInferResponse());
        }
        return rest;
    }
}
