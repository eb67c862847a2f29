// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import com.google.protobuf.ByteString;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferRequest.InferInputTensor;
import gatun.wire.inference.ModelInferRequest.InferRequestedOutputTensor;
import gatun.wire.inference.ModelInferResponse;

/** Raw tensor bytes inside protobuf messages. */
final class GrpcClient implements DigitClient {
    private final GrpcConnection connection;

    GrpcClient(String server) {
        connection = new GrpcConnection(server);
    }

    @Override
    public float[] probabilities(DigitPicture picture) {
        ModelInferRequest request = GrpcConnection.request(
                        InferInputTensor.newBuilder(), InferRequestedOutputTensor.newBuilder())
                .addRawInputContents(ByteString.copyFrom(FloatBytes.of(picture.pixels())))
                .build();
        ModelInferResponse response = connection.call(stub -> stub.modelInfer(request));
        if (response.getRawOutputContentsCount() != 1) {
            throw new DigitException(
                    "The server answered " + response.getRawOutputContentsCount() + " tensors, not 1.");
        }
        return FloatBytes.toFloats(response.getRawOutputContents(0).asReadOnlyByteBuffer());
    }

    @Override
    public void close() {
        connection.close();
    }
}
