// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.connection.Exchange;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.server.InferenceService;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.spi.Setting;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.ServingMetrics.Api;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Calls models and answers with their outputs. Thread-safe; the calling thread waits for the model. */
final class ModelCalls {
    private static final Origin ORIGIN = new Origin(101, "tensorflow", "http");

    private final InferenceService server;
    private final Duration timeout;
    private final @Nullable ServingMetrics metrics;

    /** Gives up models that take longer than {@code timeout}; {@code metrics} counts runs, null for nowhere. */
    ModelCalls(InferenceService server, Duration timeout, @Nullable ServingMetrics metrics) {
        this.server = server;
        this.timeout = timeout;
        this.metrics = metrics;
    }

    /** A request without inputs, whose trace, if it has one, has begun. */
    InferenceRequest request(Exchange exchange, ModelVersion model, Servable servable) {
        InferenceRequest request = new InferenceRequest(model);
        exchange.beginTrace(server, model).ifPresent(request::trace);
        request.origin(ORIGIN);
        request.sender(exchange.sender());
        servable.tell(request);
        return request;
    }

    /** Closes a request that cannot be answered, and ends its trace. */
    static void giveUp(InferenceRequest request) {
        request.close();
        request.trace().ifPresent(RequestTrace::end);
    }

    /** Answers with the text of {@code writer}; owns {@code request}. Throws {@link ModelTimeout} with nothing sent. */
    void answer(
            Exchange exchange, InferenceRequest request, Api api, BiConsumer<IndentedJson, List<OutputTensor>> writer) {
        long askedNanos = metrics == null ? 0 : System.nanoTime();
        request.timeLeftNanos(timeout.toNanos());
        CompletableFuture<Void> timer =
                new CompletableFuture<Void>().completeOnTimeout(null, timeout.toNanos(), TimeUnit.NANOSECONDS);
        CompletableFuture<Void> ignored = timer.thenRun(request.cancellation()::cancel);
        Optional<RequestTrace> trace = request.trace();
        trace.ifPresent(present -> present.reached(TraceStage.HTTP_RECV_END));
        try (InferenceResponse response =
                exchange.whileClientWaits(request.cancellation()::cancel, () -> server.infer(request))) {
            timer.cancel(false);
            trace.ifPresent(present -> present.reached(TraceStage.INFER_RESPONSE_COMPLETE));
            if (metrics != null) {
                metrics.recordRun(request.model().name(), api, System.nanoTime() - askedNanos);
            }
            IndentedJson json = RestResponse.text(exchange);
            writer.accept(json, response.outputs());
            trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_START));
            RestResponse.send(exchange, json);
            trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_END));
        } catch (GatunException e) {
            // The engine may notice it before the timer does.
            if (e.code() != ErrorCode.CANCELLED || request.timeLeftNanos() > 0) {
                throw request.afterRun(e); // there may be no memory for the response
            }
            throw new ModelTimeout("Timed out waiting for notification: the model has not answered within "
                    + timeout.toMillis() + " ms, which " + Setting.REST_API_TIMEOUT_IN_MS + " allows");
        } finally {
            timer.cancel(false);
            trace.ifPresent(RequestTrace::end);
        }
    }

    /** A model took longer than requests of this protocol may take. */
    static final class ModelTimeout extends RuntimeException {
        private static final long serialVersionUID = 1;

        ModelTimeout(String message) {
            super(message, null, false, false);
        }
    }
}
