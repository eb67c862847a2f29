package gatun.http.tensorflow;

import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody.Landed;
import gatun.memory.Buffer;
import gatun.memory.GatunException;
import gatun.runtime.EntryPoint;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceServer;
import gatun.runtime.ModelVersion;

/** Classify and regress: from examples in JSON to what the model makes of them. Safe for any thread. */
final class ExampleRoute {
    private final InferenceServer server;
    private final Servables servables;
    private final RestBodies bodies;
    private final ModelCalls calls;

    ExampleRoute(InferenceServer server, Servables servables, RestBodies bodies, ModelCalls calls) {
        this.server = server;
        this.servables = servables;
        this.bodies = bodies;
        this.calls = calls;
    }

    void answer(Exchange exchange, ServablePath path, ExampleMethod method) {
        Call call = read(exchange, path, method);
        calls.answer(exchange, call.request(), (json, outputs) -> method.write(json, outputs, call.exampleCount()));
    }

    private record Call(InferenceRequest request, long exampleCount) {}

    private Call read(Exchange exchange, ServablePath path, ExampleMethod method) {
        Landed body = bodies.land(exchange);
        try (Buffer buffer = body.buffer()) {
            RequestDocument document = new RequestDocument(buffer.segment(), body.offset(), body.byteSize());
            try (ExamplesReader examples = new ExamplesReader(server.buffers(), document)) {
                ModelVersion model = servables.findSingleAnswering(path);
                EntryPoint signature = signature(model, document.signatureName());
                method.check(signature);
                InferenceRequest request = calls.request(model, path, signature);
                examples.addTo(request, ExampleMethod.INPUTS);
                return new Call(request, examples.count());
            }
        }
    }

    private static EntryPoint signature(ModelVersion model, String name) {
        String wanted = name.isEmpty() ? EntryPoint.DEFAULT : name;
        EntryPoint signature = model.entryPoints().get(wanted);
        if (signature == null) {
            throw GatunException.invalidArgument("No signature was found with the name: " + wanted);
        }
        return signature;
    }
}
