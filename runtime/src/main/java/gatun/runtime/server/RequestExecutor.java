// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.OutputAliasCheck;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.VersionRetiredException;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.RecordedLog;
import gatun.runtime.repository.ModelRepository;
import java.util.function.BooleanSupplier;

/** Executes checked requests on their models, again on the successor of a version that is reloaded. Thread-safe. */
final class RequestExecutor {
    private final ModelRepository repository;
    private final RecordedLog accessLog;
    private final BooleanSupplier exiting;

    /** @param exiting whether the server stops, so that no version has a successor any more */
    RequestExecutor(ModelRepository repository, RecordedLog accessLog, BooleanSupplier exiting) {
        this.repository = repository;
        this.accessLog = accessLog;
        this.exiting = exiting;
    }

    /** As {@link InferenceService#infer(InferenceRequest)}. */
    InferenceResponse infer(InferenceRequest request) {
        noteAccess(request);
        request.traceStart();
        try (request) {
            OutputAliasCheck.refuseIn(request);
            ServedModel model = model(request);
            while (true) {
                try {
                    InferenceResponse response = model.infer(request);
                    request.traceAnswer(response);
                    return response;
                } catch (VersionRetiredException e) {
                    model = successor(model, request, e);
                }
            }
        } catch (GatunException e) {
            noteFailure(e);
            throw e;
        } finally {
            request.traceEnd();
            noteInferred();
        }
    }

    /** As {@link InferenceService#infer(InferenceRequest, ResponseReceiver)}. */
    void infer(InferenceRequest request, ResponseReceiver receiver) {
        noteAccess(request);
        request.traceStart();
        ResponseReceiver told = request.trace().isEmpty() ? receiver : new TracedReceiver(request, receiver);
        try (request) {
            OutputAliasCheck.refuseIn(request);
            ServedModel model = model(request);
            while (true) {
                try {
                    model.infer(request, told);
                    return;
                } catch (VersionRetiredException e) {
                    model = successor(model, request, e);
                }
            }
        } catch (GatunException e) {
            noteFailure(e);
            throw e;
        } finally {
            request.traceEnd();
            noteInferred();
        }
    }

    private void noteInferred() {
        if (accessLog.isOn()) {
            AccessEntry.noteInferred();
        }
    }

    private void noteFailure(GatunException failure) {
        if (accessLog.isOn()) {
            AccessEntry.noteFailure(failure);
        }
    }

    private void noteAccess(InferenceRequest request) {
        if (accessLog.isOn()) {
            AccessEntry.noteInference(request);
        }
    }

    /** The version that takes the place of one that stops because it was reloaded; one that was unloaded has none. */
    private ServedModel successor(ServedModel stopped, InferenceRequest request, VersionRetiredException failure) {
        if (exiting.getAsBoolean()) {
            throw failure;
        }
        return repository.successor(stopped, request, failure);
    }

    private static ServedModel model(InferenceRequest request) {
        if (request.model() instanceof ServedModel model) {
            return model;
        }
        throw new GatunException(
                ErrorCode.INTERNAL, "model '" + request.model().name() + "' was not found by this server");
    }

    /** Tells the trace of a request of its responses, and passes them on. */
    private record TracedReceiver(InferenceRequest request, ResponseReceiver receiver) implements ResponseReceiver {
        @Override
        public void accept(InferenceResponse response, boolean last) {
            request.traceAnswer(response);
            receiver.accept(response, last);
        }

        @Override
        public void acceptFailure(GatunException reason) {
            receiver.acceptFailure(reason);
        }
    }
}
