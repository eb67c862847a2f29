// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.RequestedOutput;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.VersionRetiredException;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.AccessLog.RecordedLog;
import gatun.runtime.repository.ModelRepository;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

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

    /**
     * Refuses requests whose outputs overlap another output or an input: engines write outputs while they read inputs,
     * in any order, so that a response would be wrong without an error. Windows are compared by their objects, whatever
     * the regions' names. Also refuses an output that fills exactly an input's window; inputs copied before the run,
     * such as strings, may be overwritten. Stateless.
     */
    public static final class OutputAliasCheck {
        /** Up to this many holds, each is compared with each, without allocating anything. */
        private static final int FEW = 8;

        private OutputAliasCheck() {}

        /** Throws {@link GatunException} INVALID_ARGUMENT naming two overlapping tensors, and their regions. */
        public static void refuseIn(InferenceRequest request) {
            if (!hasDestinations(request)) {
                return;
            }
            List<Hold> holds = request.holds();
            if (holds.size() > FEW) {
                refuseAmongMany(request, holds);
                return;
            }
            for (int i = 0; i < holds.size(); i++) {
                for (int j = i + 1; j < holds.size(); j++) {
                    if (holds.get(i) instanceof RegionLease one
                            && holds.get(j) instanceof RegionLease other
                            && one.overlaps(other)) {
                        refuse(request, one, other);
                    }
                }
            }
        }

        private static boolean hasDestinations(InferenceRequest request) {
            List<RequestedOutput> outputs = request.outputs();
            for (int i = 0; i < outputs.size(); i++) {
                if (outputs.get(i).destination().isPresent()) {
                    return true;
                }
            }
            return false;
        }

        /** Windows of one object in order of their begins: the two that reach farthest may overlap the next. */
        private static void refuseAmongMany(InferenceRequest request, List<Hold> holds) {
            Map<Object, List<RegionLease>> objects = new HashMap<>();
            for (Hold hold : holds) {
                if (hold instanceof RegionLease window && window.byteSize() > 0) {
                    objects.computeIfAbsent(window.object(), object -> new ArrayList<>())
                            .add(window);
                }
            }
            IdentityHashMap<Hold, RequestedOutput> destinations = new IdentityHashMap<>();
            request.outputs()
                    .forEach(output -> output.destination().ifPresent(window -> destinations.put(window, output)));
            for (List<RegionLease> windows : objects.values()) {
                windows.sort(Comparator.comparingLong(RegionLease::objectOffset));
                RegionLease farthestInput = null;
                RegionLease farthestOutput = null;
                for (RegionLease window : windows) {
                    boolean output = destinations.containsKey(window);
                    refuse(request, window, farthestOutput);
                    if (output) {
                        refuse(request, window, farthestInput);
                        farthestOutput = farther(window, farthestOutput);
                    } else {
                        farthestInput = farther(window, farthestInput);
                    }
                }
            }
        }

        private static RegionLease farther(RegionLease window, @Nullable RegionLease before) {
            return before == null || end(window) > end(before) ? window : before;
        }

        private static long end(RegionLease window) {
            return window.objectOffset() + window.byteSize();
        }

        private static void refuse(InferenceRequest request, RegionLease one, @Nullable RegionLease other) {
            if (other == null || !one.overlaps(other)) {
                return;
            }
            Optional<String> oneOutput = output(request, one);
            Optional<String> otherOutput = output(request, other);
            if (oneOutput.isEmpty() && otherOutput.isEmpty()) {
                return;
            }
            String output = oneOutput.or(() -> otherOutput).orElseThrow();
            RegionLease written = oneOutput.isPresent() ? one : other;
            RegionLease another = oneOutput.isPresent() ? other : one;
            String anotherTensor = oneOutput.isPresent() && otherOutput.isPresent()
                    ? "output '" + otherOutput.get() + "'"
                    : "input '" + input(request, another) + "'";
            throw GatunException.invalidArgument("output '" + output + "' in shared memory region '" + written.region()
                    + "' overlaps " + anotherTensor + " in region '" + another.region()
                    + "'; expected each output in memory of its own");
        }

        @SuppressWarnings("ReferenceEquality") // a claim is that very object
        private static Optional<String> output(InferenceRequest request, RegionLease window) {
            for (RequestedOutput output : request.outputs()) {
                if (output.destination()
                        .filter(destination -> destination == window)
                        .isPresent()) {
                    return Optional.of(output.name());
                }
            }
            return Optional.empty();
        }

        private static String input(InferenceRequest request, RegionLease window) {
            for (Tensor tensor : request.inputs()) {
                if (tensor.liesIn(window)) {
                    return tensor.spec().name();
                }
            }
            return "";
        }
    }
}
