// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody.Landed;
import gatun.memory.buffers.Buffer;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.limits.RequestUsage;
import gatun.runtime.server.InferenceServer;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.tensorflow.serving.ExampleSignature;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.ServingMetrics.Api;
import org.jspecify.annotations.Nullable;

/** Classify and regress: from examples in JSON to the model's results. Safe for any thread. */
final class ExampleRoute {
    private final InferenceServer server;
    private final Servables servables;
    private final RestBodies bodies;
    private final ModelCalls calls;
    private final boolean methodNames;
    private final @Nullable ServingMetrics metrics;

    ExampleRoute(
            InferenceServer server,
            Servables servables,
            RestBodies bodies,
            ModelCalls calls,
            boolean methodNames,
            @Nullable ServingMetrics metrics) {
        this.server = server;
        this.servables = servables;
        this.bodies = bodies;
        this.calls = calls;
        this.methodNames = methodNames;
        this.metrics = metrics;
    }

    void answer(Exchange exchange, ServablePath path, ExampleMethod method, Api api) {
        Call call;
        try (RequestUsage usage = new RequestUsage(server.limits(), server.heap())) {
            call = read(exchange, path, method, usage);
        }
        if (metrics != null) {
            metrics.examples(path.model(), call.exampleCount());
        }
        calls.answer(
                exchange,
                call.request(),
                api,
                (json, outputs) ->
                        ExampleResponseJson.write(json, method, call.signature(), outputs, call.exampleCount()));
    }

    private record Call(InferenceRequest request, ExampleSignature signature, long exampleCount) {}

    private Call read(Exchange exchange, ServablePath path, ExampleMethod method, RequestUsage usage) {
        Landed body = bodies.land(exchange);
        try (Buffer buffer = body.buffer()) {
            RequestDocument document =
                    RequestDocument.forExamples(buffer.segment(), body.offset(), body.byteSize(), usage);
            try (ExamplesReader examples = new ExamplesReader(server.buffers(), document)) {
                Servable servable = path.servable(document.signatureName());
                ModelVersion model = servables.findSingleAnswering(servable);
                ExampleSignature signature = ExampleSignature.of(model, method, servable, methodNames);
                InferenceRequest request = calls.request(exchange, model, servable);
                try {
                    signature.ask(request, server.buffers(), examples.elements(), examples.count(), examples.release());
                } catch (Throwable t) {
                    ModelCalls.giveUp(request);
                    throw t;
                }
                return new Call(request, signature, examples.count());
            }
        }
    }
}
