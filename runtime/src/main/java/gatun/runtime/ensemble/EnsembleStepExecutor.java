// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.RequestedOutput;
import gatun.runtime.ensemble.EnsemblePlan.EnsembleStep;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.SharedHolds;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The steps that run once for the request, or once for one response of a decoupled member; each as soon as its
 * {@linkplain StepTensors tensors} are there. The thread that completes a step goes on with one that this made
 * possible; virtual threads run the others.
 */
final class EnsembleStepExecutor {
    private final EnsembleRun run;
    private final EnsemblePlan plan;
    private final RunThreads threads;

    /** The member whose response this is for, or {@link ResponseStreams#NONE}. */
    private final int stream;

    /** The steps behind which that member runs; null for the request's. */
    private final @Nullable EnsembleStepExecutor outer;

    /** The responses of these steps' decoupled member; null where the steps make a response of the ensemble. */
    private final @Nullable MemberResponses responses;

    // From here on guarded by the lock of threads.
    private final StepTensors tensors;

    /** Whether all earlier responses were delivered, so that the decoupled member may run. */
    private boolean reached;

    private @Nullable EnsembleStep awaitingTurn;
    private @Nullable GatunException failure;

    /** The steps that run once for the request. {@code wantedCount} says how many of the tensors the client wants. */
    EnsembleStepExecutor(EnsembleRun run, EnsemblePlan plan, RunThreads threads, int wantedCount) {
        this.run = run;
        this.plan = plan;
        this.threads = threads;
        stream = ResponseStreams.NONE;
        outer = null;
        responses = run.responses(stream).orElse(null);
        reached = true;
        tensors = new StepTensors(run, plan, stream, responses != null, wantedCount);
    }

    private EnsembleStepExecutor(EnsembleStepExecutor outer, int stream) {
        run = outer.run;
        plan = outer.plan;
        threads = outer.threads;
        this.stream = stream;
        this.outer = outer;
        responses = run.responses(stream).orElse(null);
        tensors = new StepTensors(outer.tensors, stream, responses != null);
    }

    /** Takes over {@code inputs} and runs what is ready; if {@code here}, this thread helps until none is. */
    void begin(RequestInputs inputs, boolean here) {
        List<ReadyStep> ready = new ArrayList<>();
        threads.lock();
        try {
            for (int tensor = 0; tensor < plan.tensorCount(); tensor++) {
                if (plan.producer(tensor) == EnsemblePlan.FROM_REQUEST) {
                    put(tensor, tensors.fromRequest(inputs, tensor), ready);
                }
            }
            threads.begin(ready.size());
        } finally {
            threads.unlock();
        }
        inputs.memory().release();
        if (here && !ready.isEmpty()) {
            ReadyStep.start(ready, 1);
            ready.getFirst().follow();
        } else {
            ReadyStep.start(ready, 0);
        }
    }

    /** Owns {@code response}; waits for room and runs the steps behind its member. Throws CANCELLED if unwanted. */
    private void admit(EnsembleStep step, InferenceResponse response, MemberResponses admitted) {
        SharedHolds memory = new SharedHolds(List.of(response));
        List<ReadyStep> ready = new ArrayList<>();
        threads.lock();
        try {
            admitted.awaitRoom();
            if (admitted.isRefusing()) {
                throw new GatunException(ErrorCode.CANCELLED, "");
            }
            EnsembleStepExecutor inner = new EnsembleStepExecutor(this, step.index());
            inner.take(step, response, memory, ready);
            admitted.add(inner);
            threads.begin(ready.size());
        } finally {
            threads.unlock();
            memory.release();
        }
        ReadyStep.start(ready, 0);
    }

    /**
     * The next response's steps, empty when there are no more; parks the request's thread. The decoupled member runs
     * only from now on: before, its instance, full of responses, could be the one that an earlier turn waits for.
     */
    Optional<EnsembleStepExecutor> next(MemberResponses awaited) {
        reach();
        threads.lock();
        try {
            threads.awaitUntil(() -> {
                checkFailure();
                return awaited.isAnyOrEnd();
            });
            return awaited.first();
        } finally {
            threads.unlock();
        }
    }

    private void reach() {
        List<ReadyStep> ready = new ArrayList<>();
        threads.lock();
        try {
            reached = true;
            if (awaitingTurn != null) {
                ready.add(new ReadyStep(this, awaitingTurn));
                awaitingTurn = null;
                threads.begin(1);
            }
        } finally {
            threads.unlock();
        }
        ReadyStep.start(ready, 0);
    }

    /** Parks the request's thread until all tensors of the response are there. Throws why they will not come. */
    void awaitAnswer() {
        threads.lock();
        try {
            threads.awaitUntil(() -> {
                checkFailure();
                return tensors.isAnswerComplete();
            });
        } finally {
            threads.unlock();
        }
    }

    private void checkFailure() {
        run.check();
        for (EnsembleStepExecutor each = this; each != null; each = each.outer) {
            if (each.failure != null) {
                throw each.failure;
            }
        }
    }

    Optional<MemberResponses> responses() {
        return Optional.ofNullable(responses);
    }

    /** Whether the response of these steps ends the request: it is in the last place, and nothing has failed. */
    boolean isLast(BooleanSupplier lastPlace) {
        threads.lock();
        try {
            return failure == null && lastPlace.getAsBoolean();
        } finally {
            threads.unlock();
        }
    }

    /** Forgets the first of the responses, which was delivered, and gives its memory up. */
    void delivered(MemberResponses from, EnsembleStepExecutor steps) {
        threads.lock();
        try {
            from.delivered();
        } finally {
            threads.unlock();
        }
        steps.release();
    }

    /** Notes that a step failed. What comes before it in the order of the responses is still delivered. */
    void fail(EnsembleStep step, GatunException reason) {
        MemberResponses ofMember = run.isDecoupled(step) ? responses : null;
        threads.lock();
        try {
            if (ofMember != null) {
                ofMember.fail(reason);
            } else if (failure == null) {
                failure = reason;
            }
            refuse();
            for (EnsembleStepExecutor each = outer; each != null && each.responses != null; each = each.outer) {
                each.responses.refuse();
            }
        } finally {
            threads.unlock();
        }
        if (outer == null && ofMember == null) {
            run.stop(reason);
        }
    }

    /** Notes that a step failed by a fault of ours or the machine's. */
    void failUnexpectedly(EnsembleStep step, Throwable failed) {
        run.failUnexpectedly(step, this, failed);
    }

    /** Refuses more responses, here and behind. */
    void stop() {
        threads.lock();
        try {
            refuse();
            threads.changed();
        } finally {
            threads.unlock();
        }
    }

    private void refuse() {
        if (responses != null) {
            responses.refuse();
            responses.open().forEach(EnsembleStepExecutor::refuse);
        }
    }

    /** Sets a tensor here and in the steps behind; adds the steps that are complete to {@code ready}. */
    private void put(int number, EnsembleTensor tensor, List<ReadyStep> ready) {
        for (EnsembleStep step : tensors.put(number, tensor)) {
            if (reached || !run.isDecoupled(step)) {
                ready.add(new ReadyStep(this, step));
            } else {
                awaitingTurn = step;
            }
        }
        if (tensors.isAnswerComplete()) {
            threads.changed();
        }
        if (responses != null) {
            for (EnsembleStepExecutor inner : responses.open()) {
                inner.put(number, tensor, ready);
            }
        }
    }

    void leave() {
        threads.lock();
        try {
            threads.end();
        } finally {
            threads.unlock();
        }
    }

    /** Runs one step; the steps that can run now because of it. */
    List<ReadyStep> run(EnsembleStep step) {
        if (responses != null && run.isDecoupled(step)) {
            stream(step, responses);
            return List.of();
        }
        List<ReadyStep> ready = new ArrayList<>();
        run.ask(step, this, (member, request) -> {
            InferenceResponse response = member.infer(request);
            request.traceAnswer(response);
            SharedHolds memory = new SharedHolds(List.of(response));
            threads.lock();
            try {
                take(step, response, memory, ready);
            } finally {
                threads.unlock();
                memory.release();
            }
        });
        threads.lock();
        try {
            if (failure != null || run.isStopped()) {
                return List.of();
            }
            threads.begin(Math.max(0, ready.size() - 1));
        } finally {
            threads.unlock();
        }
        return ready;
    }

    private void stream(EnsembleStep step, MemberResponses into) {
        try {
            run.ask(
                    step,
                    this,
                    (member, request) -> member.infer(request, (response, last) -> {
                        request.traceAnswer(response);
                        admit(step, response, into);
                    }));
        } finally {
            threads.lock();
            try {
                into.end();
            } finally {
                threads.unlock();
            }
        }
    }

    void prepare(EnsembleStep step, ServedModel member, InferenceRequest request) {
        threads.lock();
        try {
            tensors.give(step, member, request);
        } finally {
            threads.unlock();
        }
        for (EnsembleStep.MappedTensor mapped : step.outputs()) {
            if (run.readers(mapped.tensor()) > 0) {
                request.addOutput(new RequestedOutput(mapped.name(), run.destination(mapped.tensor()), 0));
            }
        }
    }

    /** Puts a member's outputs, or their absence, in place, under the lock; the maker releases {@code memory}. */
    private void take(EnsembleStep step, InferenceResponse response, SharedHolds memory, List<ReadyStep> ready) {
        for (EnsembleStep.MappedTensor mapped : step.outputs()) {
            if (run.readers(mapped.tensor()) > 0) {
                put(mapped.tensor(), tensors.fromMember(mapped, response, memory), ready);
            }
        }
    }

    /** A tensor of the response when these steps have made it; empty when it was left out. */
    Optional<EnsembleTensor> tensor(int number) {
        return tensors.find(number);
    }

    /** Releases the memory that nobody took over, here and in the steps behind; no step runs any more. */
    void release() {
        if (responses != null) {
            responses.open().forEach(EnsembleStepExecutor::release);
        }
        tensors.release();
    }
}
