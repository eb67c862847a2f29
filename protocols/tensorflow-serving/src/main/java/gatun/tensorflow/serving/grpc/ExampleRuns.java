// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Hold;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelVersion;
import gatun.tensorflow.serving.ExampleSignature;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.ServingMetrics;
import io.grpc.Context;
import io.grpc.Deadline;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Runs models on examples. Safe for any thread; the calling one waits for the model. */
final class ExampleRuns {
    /** Makes a message of outputs. */
    @FunctionalInterface
    interface Results {
        /** The serialised message for so many examples that were given to a signature; the caller owns its buffer. */
        Buffer of(BufferPool pool, ExampleSignature signature, List<OutputTensor> outputs, long examples);
    }

    private final BufferPool pool;
    private final Function<InferenceRequest, InferenceResponse> server;
    private final @Nullable ServingMetrics metrics;

    /** {@code server} answers a request and closes it; {@code metrics} counts runs, null for nowhere. */
    ExampleRuns(
            BufferPool pool, Function<InferenceRequest, InferenceResponse> server, @Nullable ServingMetrics metrics) {
        this.pool = pool;
        this.server = server;
        this.metrics = metrics;
    }

    /**
     * Runs a model on the examples and makes {@code results} of its outputs; the caller owns the buffer. {@code source}
     * keeps the examples' memory and is closed once they are copied. Throws when they do not fit, or the model fails.
     */
    Buffer run(
            ModelVersion model,
            Servable servable,
            ExampleSignature signature,
            ServingMetrics.Api api,
            ExampleMessage message,
            Hold source,
            Results results) {
        ExampleInput input = message.input();
        InferenceRequest request = new InferenceRequest(model);
        try {
            servable.tell(request);
            request.origin(PredictExchange.ORIGIN);
            request.sender(message.sender);
            input.ask(signature, request, pool);
            source.close();
            Deadline deadline = Context.current().getDeadline();
            if (deadline != null) {
                request.timeLeftNanos(deadline.timeRemaining(TimeUnit.NANOSECONDS));
            }
            Context.current().addListener(cancelled -> request.cancellation().cancel(), Runnable::run);
        } catch (Throwable t) {
            request.close();
            throw t;
        }
        if (metrics != null) {
            metrics.examples(model.name(), input.count());
        }
        long startedNanos = metrics == null ? 0 : System.nanoTime();
        try (InferenceResponse response = server.apply(request)) {
            if (metrics != null) {
                metrics.recordRun(model.name(), api, System.nanoTime() - startedNanos);
            }
            return results.of(pool, signature, response.outputs(), input.count());
        }
    }
}
