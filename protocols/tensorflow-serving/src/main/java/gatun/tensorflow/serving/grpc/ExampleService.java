// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.frames.OutboundMessage;
import gatun.memory.tensor.GatunException;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.ServingMetrics.Api;
import gatun.tensorflow.serving.ServingMetrics.Entrypoint;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Classify, Regress and MultiInference. Thread-safe; the calling thread waits for the model. */
final class ExampleService {
    private final Servables servables;
    private final ExampleResponses examples;
    private final @Nullable ServingMetrics metrics;

    /** @param metrics where requests are counted; null for nowhere */
    ExampleService(Servables servables, ExampleResponses examples, @Nullable ServingMetrics metrics) {
        this.servables = servables;
        this.examples = examples;
        this.metrics = metrics;
    }

    OutboundMessage classify(ExampleMessage message) {
        return counted(Api.CLASSIFY, message.servable.name(), () -> judge(ExampleMethod.CLASSIFY, message));
    }

    OutboundMessage regress(ExampleMessage message) {
        return counted(Api.REGRESS, message.servable.name(), () -> judge(ExampleMethod.REGRESS, message));
    }

    private OutboundMessage judge(ExampleMethod method, ExampleMessage message) {
        if (!message.hasServable) {
            throw GatunException.invalidArgument("Missing ModelSpec");
        }
        return examples.answer(servables.findSingleAnswering(message.servable), method, message);
    }

    OutboundMessage multiInference(ExampleMessage message) {
        String model = message.tasks.isEmpty()
                ? ""
                : message.tasks.getFirst().servable().name();
        return counted(Api.MULTI_INFERENCE, model, () -> {
            ExampleResponses.requireTasks(message.tasks);
            return examples.answerTasks(
                    servables.findSingleAnswering(message.tasks.getFirst().servable()), message);
        });
    }

    private OutboundMessage counted(Api api, String model, Supplier<OutboundMessage> work) {
        ServingMetrics counting = metrics;
        if (counting == null) {
            return work.get();
        }
        long arrivedNanos = System.nanoTime();
        try {
            OutboundMessage response = work.get();
            counting.answered(model, api, Entrypoint.GRPC, System.nanoTime() - arrivedNanos);
            return response;
        } catch (GatunException e) {
            counting.failed(model, e.code());
            throw e;
        }
    }
}
