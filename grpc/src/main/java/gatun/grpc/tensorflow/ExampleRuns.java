package gatun.grpc.tensorflow;

import gatun.memory.GatunException;
import gatun.runtime.EntryPoint;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceServer;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.OutputTensor;
import gatun.runtime.RequestedOutput;
import io.grpc.Context;
import java.util.List;

/** Runs models on examples. Safe for any thread; the calling one waits for the model. */
final class ExampleRuns {
    private final InferenceServer server;

    ExampleRuns(InferenceServer server) {
        this.server = server;
    }

    /**
     * What {@code method} makes of the examples.
     *
     * @param anyVersion whether the client left the version open
     * @throws GatunException when the signature does not fit the method, or the model fails
     */
    <R> R run(
            ModelVersion model, boolean anyVersion, EntryPoint signature, ExampleMethod<R> method, ExampleInput input) {
        List<String> outputs = method.outputs(signature);
        InferenceRequest request = new InferenceRequest(model);
        try {
            request.anyVersion(anyVersion);
            request.origin(Origin.TENSORFLOW_GRPC);
            request.entryPoint(signature.name());
            request.addInput(input.tensor(ExampleMethod.INPUTS, request, server.buffers()));
            outputs.forEach(output -> request.addOutput(RequestedOutput.of(output)));
            Context.current().addListener(cancelled -> request.cancellation().cancel(), Runnable::run);
        } catch (Throwable t) {
            request.close();
            throw t;
        }
        try (InferenceResponse response = server.infer(request)) {
            return method.result(
                    response.outputs().stream().map(OutputTensor::tensor).toList(), input.count());
        }
    }
}
