// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferRequest.InferInputTensor;
import gatun.wire.inference.ModelInferRequest.InferRequestedOutputTensor;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** The server's gRPC port, with errors in words for the person at the terminal. Owns its channel. */
final class GrpcConnection implements AutoCloseable {
    private static final long TIMEOUT_SECONDS = 10;

    private final String server;
    private final ManagedChannel channel;

    /**
     * A channel that connects with the first call.
     *
     * @param server host and port, as in {@code localhost:8001}
     */
    GrpcConnection(String server) {
        this.server = server;
        this.channel = Grpc.newChannelBuilder(server, InsecureChannelCredentials.create())
                .build();
    }

    /**
     * Makes one call.
     *
     * @throws DigitException if the server cannot be reached or refuses
     */
    <T> T call(Function<GRPCInferenceServiceBlockingStub, T> rpc) {
        try {
            return rpc.apply(GRPCInferenceServiceGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        } catch (StatusRuntimeException e) {
            Status status = e.getStatus();
            if (status.getCause() instanceof IOException) { // the server's own refusals have no cause
                throw DigitException.noServer(server, e);
            }
            throw new DigitException("The server refused with " + status.getCode() + ": " + status.getDescription(), e);
        }
    }

    /** An inference request with everything but where the tensors' bytes are. */
    static ModelInferRequest.Builder request(
            InferInputTensor.Builder input, InferRequestedOutputTensor.Builder output) {
        input.setName(DigitClient.INPUT)
                .setDatatype("FP32")
                .addShape(1)
                .addShape(1)
                .addShape(DigitPicture.SIDE)
                .addShape(DigitPicture.SIDE);
        output.setName(DigitClient.OUTPUT);
        return ModelInferRequest.newBuilder()
                .setModelName(DigitClient.MODEL)
                .addInputs(input)
                .addOutputs(output);
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
