// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.ComputeTimes;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.RequestedOutput;
import gatun.runtime.ensemble.EnsemblePlan.EnsembleStep;
import gatun.runtime.ensemble.StepTensors.TensorShapes;
import gatun.runtime.execution.ComposedResponse;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.VersionRetiredException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request on its way through an ensemble. A step begins as soon as its tensors are there; behind a decoupled
 * member, steps run for each response, side by side, and the responses keep the stream's order. A failure stops what
 * comes after it in that order; the request's thread answers when no step runs any more.
 */
final class EnsembleRun {
    private static final Logger LOG = LoggerFactory.getLogger(EnsembleRun.class);
    private static final int UNWANTED = -1;

    private final Ensemble ensemble;
    private final EnsemblePlan plan;
    private final ResponseStreams streams;
    private final InferenceRequest request;
    private final ComposedResponse response;
    private final MemberCalls calls = new MemberCalls();
    private final RunThreads threads = new RunThreads();
    private final ComputeTimes times = new ComputeTimes();
    private final EnsembleStepExecutor steps;
    private final boolean[] needed;

    private final AtomicInteger failedMembers = new AtomicInteger();

    /** Used by the request's thread. */
    private long firstNanos;

    /** The steps that requests enter in order, until their members take them. Guarded by the lock of threads. */
    private final BitSet unsubmitted = new BitSet();

    /** Which output of the response each tensor is, or {@link #UNWANTED}. */
    private final int[] wanted;

    /** A run that answers {@code request}, which its caller owns, with {@code response}. */
    EnsembleRun(Ensemble ensemble, InferenceRequest request, ComposedResponse response) {
        this.ensemble = ensemble;
        this.plan = ensemble.plan();
        this.streams = ensemble.streams();
        this.request = request;
        this.response = response;
        wanted = new int[plan.tensorCount()];
        Arrays.fill(wanted, UNWANTED);
        int[] answered = new int[response.outputCount()];
        for (int i = 0; i < answered.length; i++) {
            answered[i] = plan.tensor(response.outputName(i));
            wanted[answered[i]] = i;
        }
        needed = request.outputs().isEmpty() ? plan.allSteps() : plan.needed(answered);
        steps = new EnsembleStepExecutor(this, plan, threads, answered.length);
        for (EnsembleStep step : plan.steps()) {
            unsubmitted.set(step.index(), needed[step.index()] && ensemble.isEnteredInOrder(step));
        }
    }

    /** Runs the steps for one response; parks the thread meanwhile. Throws the first failure, naming the ensemble. */
    InferenceResponse answer() {
        try {
            steps.begin(RequestInputs.of(request, response.inputs()), true);
            threads.awaitNone();
            calls.check();
            fill(response, steps);
            return response.response(ensemble.name(), ensemble.versionText());
        } catch (GatunException e) {
            response.fail(e);
            throw e;
        } finally {
            steps.release();
        }
    }

    /** Runs the steps with a response for each of the innermost decoupled member's; also throws {@code receiver}'s. */
    void answer(ResponseReceiver receiver) {
        try {
            steps.begin(RequestInputs.of(request, response.inputs()), false);
            deliver(steps, receiver, () -> true);
        } catch (GatunException e) {
            stop(e);
            throw e;
        } catch (RuntimeException | Error e) {
            stop(new GatunException(ErrorCode.CANCELLED, ""));
            throw e;
        } finally {
            threads.awaitNone();
            steps.release();
        }
    }

    int failedMembers() {
        return failedMembers.get();
    }

    /** When the first of several responses was given, as a reading of {@link System#nanoTime}; 0 before. */
    long firstNanos() {
        return firstNanos;
    }

    /** Gives the request up: the members are told to stop, and no further step begins. For any thread. */
    void cancel() {
        stop(new GatunException(ErrorCode.CANCELLED, ""));
    }

    /** Stops all members, for this reason if it is the first. Not to be called under the lock of threads. */
    void stop(GatunException reason) {
        calls.stop(reason);
        ensemble.limits().lookAgain();
        steps.stop();
    }

    /**
     * Gives the receiver in order what these steps or those behind them make, the last marked where known, as in
     * Triton. {@code last}, called under the lock of the threads: nothing comes behind these steps.
     */
    private void deliver(EnsembleStepExecutor from, ResponseReceiver receiver, BooleanSupplier last) {
        Optional<MemberResponses> responses = from.responses();
        if (responses.isEmpty()) {
            from.awaitAnswer();
            InferenceResponse part = part(from);
            if (firstNanos == 0) {
                firstNanos = System.nanoTime();
            }
            receiver.accept(part, from.isLast(last));
            return;
        }
        MemberResponses behind = responses.get();
        for (Optional<EnsembleStepExecutor> next = from.next(behind); next.isPresent(); next = from.next(behind)) {
            deliver(next.get(), receiver, () -> last.getAsBoolean() && behind.isLast());
            from.delivered(behind, next.get());
        }
    }

    private InferenceResponse part(EnsembleStepExecutor from) {
        ComposedResponse next = response.another();
        try {
            fill(next, from);
            return next.part(ensemble.name(), ensemble.versionText());
        } catch (GatunException e) {
            next.fail(e);
            throw e;
        }
    }

    private void fill(ComposedResponse target, EnsembleStepExecutor from) {
        target.tellSequence();
        for (int i = 0; i < target.outputCount(); i++) {
            int number = plan.tensor(target.outputName(i));
            Optional<EnsembleTensor> made = from.tensor(number);
            if (made.isPresent()) {
                fill(target, i, made.get());
            } else if (plan.producer(number) != EnsemblePlan.FROM_REQUEST) {
                // The member has run, and left it out of its response.
                LOG.debug("Composing models did not output tensor {}", target.outputName(i));
                target.leaveOut(i);
            } else if (!streams.any()) {
                throw deadlock();
            }
        }
    }

    private void fill(ComposedResponse target, int index, EnsembleTensor made) {
        Tensor tensor = made.tensor().orElseThrow(this::deadlock);
        TensorSpec spec = tensor.spec();
        Shape shape = TensorShapes.fit(spec.shape(), target.outputRank(index), ensemble.batching());
        Tensor fitted = tensor.as(target.answered(index, spec.datatype(), shape));
        made.claim()
                .ifPresentOrElse(claim -> target.output(index, fitted, claim), () -> target.outputCopy(index, fitted));
    }

    private GatunException deadlock() {
        return GatunException.invalidArgument(prefix() + "[request id: "
                + (request.id().isEmpty() ? "<id_unknown>" : request.id())
                + "] unexpected deadlock, at least one output is not set while no more ensemble steps can be made");
    }

    boolean isNeeded(int step) {
        return needed[step];
    }

    boolean isOf(int step, int stream) {
        return streams.ofStep(step) == stream;
    }

    boolean isDecoupled(EnsembleStep step) {
        return streams.isDecoupled(step.index());
    }

    /** The responses of the decoupled member that runs for each response of {@code stream}; empty for none. */
    Optional<MemberResponses> responses(int stream) {
        if (streams.any()) {
            for (EnsembleStep step : plan.steps()) {
                if (needed[step.index()] && isDecoupled(step) && isOf(step.index(), stream)) {
                    return Optional.of(new MemberResponses(threads, streams.capacity(step.index())));
                }
            }
        }
        return Optional.empty();
    }

    boolean isWanted(int tensor) {
        return wanted[tensor] != UNWANTED;
    }

    /** How many will read that tensor: the steps that this run needs, and the response. */
    int readers(int tensor) {
        int readers = isWanted(tensor) ? 1 : 0;
        for (int consumer : plan.consumers(tensor)) {
            if (needed[consumer]) {
                readers++;
            }
        }
        return readers;
    }

    /** Where the client wants a tensor that the member may write there: nobody else reads or changes it. */
    Optional<RegionLease> destination(int tensor) {
        if (!isWanted(tensor) || readers(tensor) > 1 || streams.ofTensor(tensor) != ResponseStreams.NONE) {
            return Optional.empty();
        }
        RequestedOutput output = response.requestedOutput(wanted[tensor]);
        return output.classification() > 0 ? Optional.empty() : output.destination();
    }

    /** How long the members' engines have worked for this. */
    ComputeTimes times() {
        return times;
    }

    boolean isStopped() {
        return calls.isStopped();
    }

    /** Throws the reason why everything was stopped, if it was. */
    void check() {
        calls.check();
    }

    /**
     * Asks a step's member when its limit permits; notes a failure and does not throw. {@code call} passes the request
     * on and takes responses; it is called again with the member's successor where that was replaced meanwhile.
     */
    void ask(EnsembleStep step, EnsembleStepExecutor from, BiConsumer<ServedModel, InferenceRequest> call) {
        if (!ensemble.limits().enter(step, calls::isStopped)) {
            return;
        }
        try {
            ServedModel member = ensemble.members().member(step.model(), step.version());
            try (InferenceRequest memberRequest = request.onBehalf(member)) {
                memberRequest.computeTimes(times);
                memberRequest.onSubmitted(() -> submitted(step));
                if (!calls.begin(memberRequest)) {
                    return;
                }
                try {
                    from.prepare(step, member, memberRequest);
                    memberRequest.traceStart();
                    askLatest(step, member, memberRequest, call);
                    submitted(step); // a response from a cache
                } finally {
                    memberRequest.traceEnd();
                    calls.end(memberRequest);
                }
            }
        } catch (GatunException e) {
            // A request that was given up has nothing to say.
            boolean givenUp = e.getMessage().isEmpty();
            if (!givenUp) {
                failedMembers.incrementAndGet();
            }
            from.fail(step, givenUp ? e : prefixed(e));
        } catch (RuntimeException | Error e) {
            failUnexpectedly(step, from, e);
        } finally {
            ensemble.limits().leave(step);
        }
    }

    /** Notes that a member has taken a step in. When all that requests enter in order are, so is the request. */
    private void submitted(EnsembleStep step) {
        boolean last;
        threads.lock();
        try {
            last = unsubmitted.get(step.index()) && unsubmitted.cardinality() == 1;
            unsubmitted.clear(step.index());
        } finally {
            threads.unlock();
        }
        if (last) {
            request.submitted();
        }
    }

    private void askLatest(
            EnsembleStep step,
            ServedModel found,
            InferenceRequest memberRequest,
            BiConsumer<ServedModel, InferenceRequest> call) {
        ServedModel member = found;
        while (true) {
            try {
                call.accept(member, memberRequest);
                return;
            } catch (VersionRetiredException e) {
                if (member.ready()) {
                    throw e;
                }
                ServedModel successor = ensemble.members().member(step.model(), step.version());
                if (successor.equals(member)) {
                    throw e;
                }
                member = successor;
            }
        }
    }

    private GatunException prefixed(GatunException failure) {
        return new GatunException(failure.code(), prefix() + failure.getMessage(), failure);
    }

    private String prefix() {
        return "in ensemble '" + ensemble.name() + "', ";
    }

    void failUnexpectedly(EnsembleStep step, EnsembleStepExecutor from, Throwable failed) {
        LOG.error(
                "Step {} of ensemble '{}', model '{}', failed unexpectedly",
                step.index(),
                ensemble.name(),
                step.model(),
                failed);
        from.fail(
                step,
                new GatunException(
                        ErrorCode.INTERNAL,
                        prefix() + "model '" + step.model() + "' failed unexpectedly; the server's log says more",
                        failed));
    }
}
