package gatun.grpc.tensorflow;

import gatun.memory.BufferPool;
import gatun.memory.GatunException;
import gatun.runtime.EntryPoint;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.OutputTensor;
import gatun.runtime.RequestedOutput;
import gatun.tensorflow.serving.ExampleMethod;
import io.grpc.Context;
import java.util.List;
import java.util.function.Function;

/** Runs models on examples. Safe for any thread; the calling one waits for the model. */
final class ExampleRuns {
    /**
     * Makes a message of outputs.
     *
     * @param <R> the message
     */
    @FunctionalInterface
    interface Results<R> {
        /** The message for so many examples. */
        R of(List<OutputTensor> outputs, int examples);
    }

    private final BufferPool pool;
    private final Function<InferenceRequest, InferenceResponse> server;

    /**
     * Runs the models of {@code server}.
     *
     * @param pool where examples become tensors
     * @param server answers a request and closes it
     */
    ExampleRuns(BufferPool pool, Function<InferenceRequest, InferenceResponse> server) {
        this.pool = pool;
        this.server = server;
    }

    /**
     * What {@code method} makes of the examples, as the message that {@code results} makes of the model's outputs.
     *
     * @param anyVersion whether the client left the version open
     * @throws GatunException when the signature does not fit the method, or the model fails
     */
    <R> R run(
            ModelVersion model,
            boolean anyVersion,
            EntryPoint signature,
            ExampleMethod method,
            ExampleInput input,
            Results<R> results) {
        List<String> outputs = method.outputs(signature);
        InferenceRequest request = new InferenceRequest(model);
        try {
            request.anyVersion(anyVersion);
            request.origin(Origin.TENSORFLOW_GRPC);
            request.entryPoint(signature.name());
            request.addInput(input.tensor(ExampleMethod.INPUTS, request, pool));
            outputs.forEach(output -> request.addOutput(RequestedOutput.of(output)));
            Context.current().addListener(cancelled -> request.cancellation().cancel(), Runnable::run);
        } catch (Throwable t) {
            request.close();
            throw t;
        }
        try (InferenceResponse response = server.apply(request)) {
            return results.of(response.outputs(), input.count());
        }
    }
}
