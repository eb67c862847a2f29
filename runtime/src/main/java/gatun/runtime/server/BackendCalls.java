// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.ModelOverride;
import gatun.runtime.RequestedOutput;
import gatun.runtime.execution.RunningRequests;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.VersionRetiredException;
import gatun.runtime.metrics.MetricRegistry;
import gatun.runtime.repository.ModelRepository;
import gatun.runtime.repository.TemporaryFolder;
import gatun.runtime.tracing.RequestTrace;
import gatun.spi.CorrelationId;
import gatun.spi.ModelCall;
import gatun.spi.ModelMetrics;
import gatun.spi.ModelServer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What backends ask of their server. Thread-safe; calls fail until the repository is there. */
final class BackendCalls implements ModelServer {
    private final MetricRegistry metrics;
    private final TemporaryFolder files;
    private volatile @Nullable ModelRepository repository;

    /** @param files for those of backends */
    BackendCalls(MetricRegistry metrics, TemporaryFolder files) {
        this.metrics = metrics;
        this.files = files;
    }

    void connect(ModelRepository models) {
        repository = models;
    }

    private ModelRepository repository() {
        ModelRepository models = repository;
        if (models == null) {
            throw new GatunException(ErrorCode.UNAVAILABLE, "the server is not ready for calls of backends yet");
        }
        return models;
    }

    @Override
    public void infer(ModelCall call, ModelCall.Responses responses) {
        ServedModel model = repository().model(call.model(), call.version());
        Optional<RequestTrace> within = call.madeFor().flatMap(RunningRequests::trace);
        Optional<RequestTrace> trace = within.map(parent -> parent.child(model.name(), model.version()));
        try (InferenceRequest request = request(call, model)) {
            call.onCancel(request.cancellation()::cancel);
            trace.ifPresent(request::trace);
            request.traceStart();
            Passed passed = new Passed(request, responses);
            try {
                inferLatest(model, request, call, passed);
            } finally {
                passed.endTrace();
            }
        } finally {
            trace.ifPresent(RequestTrace::end);
        }
    }

    private void inferLatest(ServedModel model, InferenceRequest request, ModelCall call, Passed passed) {
        ServedModel latest = model;
        while (true) {
            try {
                infer(latest, request, call, passed);
                return;
            } catch (VersionRetiredException e) {
                latest = repository().successor(latest, request, e);
            }
        }
    }

    private static void infer(ServedModel model, InferenceRequest request, ModelCall call, Passed passed) {
        if (call.takesSeveral()) {
            request.takeLateResponses();
            model.infer(request, passed);
        } else {
            passed.accept(model.infer(request), true);
        }
    }

    /** Passes responses and failures to the backend that asked. */
    private static final class Passed implements ResponseReceiver {
        private final InferenceRequest request;
        private final ModelCall.Responses responses;
        private boolean traceEnded;

        Passed(InferenceRequest request, ModelCall.Responses responses) {
            this.request = request;
            this.responses = responses;
        }

        @Override
        public void accept(InferenceResponse response, boolean last) {
            try (response) {
                request.traceAnswer(response);
                if (last) {
                    // Before the backend that asked knows: its own request may end by that, and the trace with it.
                    endTrace();
                }
                List<Tensor> outputs = new ArrayList<>(response.outputs().size());
                for (OutputTensor output : response.outputs()) {
                    outputs.add(output.tensor());
                }
                responses.accept(outputs, response.parameters(), last);
            }
        }

        @Override
        public void acceptFailure(GatunException reason) {
            responses.acceptFailure(reason);
        }

        void endTrace() {
            if (!traceEnded) {
                traceEnded = true;
                request.traceEnd();
            }
        }
    }

    private static InferenceRequest request(ModelCall call, ServedModel model) {
        InferenceRequest request = new InferenceRequest(model);
        request.anyVersion(call.version().isEmpty());
        request.id(call.id());
        request.timeoutMicros(call.timeoutMicros());
        request.priority(call.priority());
        call.correlationId().ifPresent(sequence -> {
            switch (sequence) {
                case CorrelationId.Uint64 number -> request.correlationId(number.value());
                case CorrelationId.Text text -> request.correlationId(text.value());
            }
        });
        request.sequenceStart(call.startsSequence());
        request.sequenceEnd(call.endsSequence());
        call.parameters().forEach(request::parameter);
        call.outputs().forEach(name -> request.addOutput(RequestedOutput.of(name)));
        call.inputs().forEach(request::addInput);
        return request;
    }

    @Override
    public void load(String model, String configuration, Map<String, MemorySegment> files) {
        repository().load(model, new ModelOverride(configuration, files));
    }

    @Override
    public void unload(String model, boolean dependents) {
        repository().unload(model, dependents);
    }

    @Override
    public boolean isReady(String model, String version) {
        try {
            return repository().model(model, version).ready();
        } catch (GatunException e) {
            return false;
        }
    }

    @Override
    public Path newFolder() {
        try {
            return files.newFolder();
        } catch (IOException e) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "no temporary folder could be made for a backend: " + IoFailure.describe(e),
                    e);
        }
    }

    @Override
    public ModelMetrics metrics() {
        return metrics;
    }
}
