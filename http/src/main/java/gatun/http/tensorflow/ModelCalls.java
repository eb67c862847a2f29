package gatun.http.tensorflow;

import gatun.http.connection.Exchange;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceServer;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.OutputTensor;
import gatun.tensorflow.serving.Servable;
import io.helidon.http.Status;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** Asks models, and sends what is made of their outputs. Safe for any thread; the calling one waits for the model. */
final class ModelCalls {
    private final InferenceServer server;
    private final Duration timeout;

    /** Asks the models of {@code server}, and gives up those that take longer than {@code timeout}. */
    ModelCalls(InferenceServer server, Duration timeout) {
        this.server = server;
        this.timeout = timeout;
    }

    /** A request without inputs. */
    InferenceRequest request(ModelVersion model, Servable servable) {
        InferenceRequest request = new InferenceRequest(model);
        request.origin(Origin.TENSORFLOW_HTTP);
        request.anyVersion(servable.isAnyVersion());
        return request;
    }

    /** Answers by what {@code writer} writes of the outputs; owns {@code request}. */
    void answer(Exchange exchange, InferenceRequest request, BiConsumer<IndentedJson, List<OutputTensor>> writer) {
        CompletableFuture<Void> timer =
                new CompletableFuture<Void>().completeOnTimeout(null, timeout.toNanos(), TimeUnit.NANOSECONDS);
        CompletableFuture<Void> ignored = timer.thenRun(request.cancellation()::cancel);
        try (InferenceResponse response =
                exchange.whileClientWaits(request.cancellation()::cancel, () -> server.infer(request))) {
            timer.cancel(false);
            IndentedJson json = RestAnswer.text(exchange);
            writer.accept(json, response.outputs());
            RestAnswer.send(exchange, json);
        } catch (GatunException e) {
            // The timer is done before it gives the request up, what it does then perhaps not yet.
            if (e.code() != ErrorCode.CANCELLED || !timer.isDone()) {
                throw e;
            }
            RestAnswer.fail(
                    exchange,
                    Status.GATEWAY_TIMEOUT_504,
                    "the model has not answered within " + timeout.toMillis() + " ms, which --rest_api_timeout_in_ms"
                            + " allows");
        } finally {
            timer.cancel(false);
        }
    }
}
