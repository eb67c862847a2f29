package gatun.runtime.ensemble;

import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.memory.Hold;
import gatun.memory.RegionLease;
import gatun.memory.Tensor;
import gatun.memory.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.RequestedOutput;
import gatun.runtime.ResponseReceiver;
import gatun.runtime.execution.ComposedAnswer;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.SharedHolds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request on its way through the steps of an ensemble. The first failure stops everything, and the request's thread answers when no
 * step runs any more. Behind a decoupled member, steps run once for each of its responses, one response after the other, so that the
 * answers keep the order of the stream.
 */
final class EnsembleRun {
    private static final Logger LOG = LoggerFactory.getLogger(EnsembleRun.class);
    private static final int UNWANTED = -1;

    private final Ensemble ensemble;
    private final EnsemblePlan plan;
    private final ResponseStreams streams;
    private final InferenceRequest request;
    private final ComposedAnswer answer;
    private final MemberCalls calls = new MemberCalls();
    private final boolean[] needed;

    /** Which output of the answer each tensor is, or {@link #UNWANTED}. */
    private final int[] wanted;

    /** The decoupled members that are needed, each of which is inside of the one before. */
    private final List<EnsembleStep> path = new ArrayList<>();

    /** What the receiver of the answers threw. Of the request's thread. */
    private @Nullable Throwable receiverFailure;

    /** A run that answers {@code request}, which its caller owns, by {@code answer}. */
    EnsembleRun(Ensemble ensemble, InferenceRequest request, ComposedAnswer answer) {
        this.ensemble = ensemble;
        this.plan = ensemble.plan();
        this.streams = ensemble.streams();
        this.request = request;
        this.answer = answer;
        wanted = new int[plan.tensorCount()];
        Arrays.fill(wanted, UNWANTED);
        int[] answered = new int[answer.outputCount()];
        for (int i = 0; i < answered.length; i++) {
            answered[i] = plan.tensor(answer.outputName(i));
            wanted[answered[i]] = i;
        }
        needed = request.outputs().isEmpty() ? plan.allSteps() : plan.needed(answered);
        if (streams.any()) {
            for (EnsembleStep step : plan.inOrder()) {
                if (needed[step.index()] && streams.isDecoupled(step.index())) {
                    path.add(step);
                }
            }
        }
    }

    /**
     * Runs the steps of an ensemble that gives one response; parks the calling thread until they are over.
     *
     * @throws GatunException the first failure of a step, named after the ensemble
     */
    InferenceResponse answer() {
        StepRuns steps = new StepRuns(this, plan, true);
        try {
            begin(steps);
            fill(answer, steps);
            return answer.response(ensemble.name(), ensemble.versionText());
        } catch (GatunException e) {
            answer.fail(e);
            throw e;
        } finally {
            steps.release();
        }
    }

    /**
     * Runs the steps, and gives {@code receiver} an answer for each response of the innermost decoupled member; otherwise as {@link
     * #answer()}. Also throws what the receiver throws.
     */
    void answer(ResponseReceiver receiver) {
        StepRuns steps = new StepRuns(this, plan, path.isEmpty());
        try {
            begin(steps);
            goOn(steps, 0, receiver);
        } catch (GatunException e) {
            switch (receiverFailure) {
                case null -> throw e;
                case RuntimeException failed -> throw failed;
                case Error failed -> throw failed;
                case Throwable failed -> throw new AssertionError("a receiver may not throw this", failed);
            }
        } finally {
            steps.release();
        }
    }

    /** Gives the request up: the members are told to stop, and no further step begins. For any thread. */
    void cancel() {
        calls.stop(new GatunException(ErrorCode.CANCELLED, ""));
    }

    private void begin(StepRuns steps) {
        List<Hold> owned = new ArrayList<>();
        List<RegionLease> regions = new ArrayList<>();
        for (Hold hold : List.copyOf(request.holds())) {
            if (hold instanceof RegionLease lease) {
                regions.add(lease);
            } else if (request.release(hold)) {
                owned.add(hold);
            }
        }
        steps.runFrom(request, new SharedHolds(owned), !owned.isEmpty(), regions);
        calls.check();
    }

    /** Asks the decoupled member at {@code depth}, or answers when there is none. */
    private void goOn(StepRuns steps, int depth, ResponseReceiver receiver) {
        if (depth == path.size()) {
            deliver(part(steps), receiver);
            return;
        }
        EnsembleStep step = path.get(depth);
        boolean last = depth == path.size() - 1;
        ask(
                step,
                steps,
                (member, memberRequest) -> member.infer(memberRequest, (response, end) -> {
                    StepRuns inner = new StepRuns(steps, step.index(), last);
                    try {
                        inner.runFrom(step, response);
                        calls.check();
                        goOn(inner, depth + 1, receiver);
                    } catch (GatunException e) {
                        calls.stop(e); // as it is: the member has no part in it
                        throw e;
                    } finally {
                        inner.release();
                    }
                }));
        calls.check();
    }

    private void deliver(InferenceResponse response, ResponseReceiver receiver) {
        try {
            receiver.accept(response, false);
        } catch (RuntimeException | Error e) {
            receiverFailure = e;
            throw new GatunException(ErrorCode.CANCELLED, "");
        }
    }

    private InferenceResponse part(StepRuns steps) {
        ComposedAnswer next = answer.another();
        try {
            fill(next, steps);
            return next.part(ensemble.name(), ensemble.versionText());
        } catch (GatunException e) {
            next.fail(e);
            throw e;
        }
    }

    private void fill(ComposedAnswer target, StepRuns steps) {
        for (int i = 0; i < target.outputCount(); i++) {
            String name = target.outputName(i);
            EnsembleTensor made = steps.tensor(plan.tensor(name)).orElseThrow(this::deadlock);
            Tensor tensor = made.tensor().orElseThrow(this::deadlock);
            TensorSpec spec = tensor.spec();
            Tensor fitted = new Tensor(
                    new TensorSpec(
                            name,
                            spec.datatype(),
                            TensorShapes.fit(spec.shape(), name, ensemble.outputs(), ensemble.batching())),
                    tensor.bytes());
            int index = i;
            made.claim()
                    .ifPresentOrElse(
                            claim -> target.output(index, fitted, claim), () -> target.outputCopy(index, fitted));
        }
    }

    private GatunException deadlock() {
        return GatunException.invalidArgument(prefix() + "[request id: "
                + (request.id().isEmpty() ? "<id_unknown>" : request.id())
                + "] unexpected deadlock, at least one output is not set while no more ensemble steps can be made");
    }

    /** Whether this run takes that step. */
    boolean isNeeded(int step) {
        return needed[step];
    }

    /** Whether a step that is not decoupled itself runs once for each response of {@code stream}. */
    boolean isOf(int step, int stream) {
        return streams.ofStep(step) == stream && !streams.isDecoupled(step);
    }

    boolean isWanted(int tensor) {
        return wanted[tensor] != UNWANTED;
    }

    /** How many will read that tensor: the steps that this run needs, and the answer. */
    int readers(int tensor) {
        int readers = isWanted(tensor) ? 1 : 0;
        for (int consumer : plan.consumers(tensor)) {
            if (needed[consumer]) {
                readers++;
            }
        }
        return readers;
    }

    /** Where the client wants a tensor, if the member may write it there: nobody else reads it, and it is wanted as it is. */
    Optional<RegionLease> destination(int tensor) {
        if (!isWanted(tensor) || readers(tensor) > 1) {
            return Optional.empty();
        }
        RequestedOutput output = answer.wanted(wanted[tensor]);
        return output.classification() > 0 ? Optional.empty() : output.destination();
    }

    boolean isStopped() {
        return calls.isStopped();
    }

    /**
     * Makes a step's request to its member; a failure stops the run and is not thrown, but for what a receiver of responses throws.
     *
     * @param call asks the member and takes what it answers; where the member was replaced since it was found, its successor again
     */
    void ask(EnsembleStep step, StepRuns steps, BiConsumer<ServedModel, InferenceRequest> call) {
        try {
            ServedModel member = ensemble.members().member(step.model(), step.version());
            try (InferenceRequest memberRequest = request.onBehalf(member)) {
                if (!calls.begin(memberRequest)) {
                    return;
                }
                try {
                    steps.prepare(step, member, memberRequest);
                    askLatest(step, member, memberRequest, call);
                } finally {
                    calls.end(memberRequest);
                }
            }
        } catch (GatunException e) {
            calls.stop(e.code() == ErrorCode.CANCELLED ? e : prefixed(e));
        } catch (RuntimeException | Error e) {
            failUnexpectedly(step, e);
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
            } catch (GatunException e) {
                if (member.ready() || !e.getMessage().equals(ServedModel.STOPPING)) {
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

    void failUnexpectedly(EnsembleStep step, Throwable failed) {
        LOG.error(
                "Step {} of ensemble '{}', model '{}', failed unexpectedly",
                step.index(),
                ensemble.name(),
                step.model(),
                failed);
        calls.stop(new GatunException(
                ErrorCode.INTERNAL,
                prefix() + "model '" + step.model() + "' failed unexpectedly; the server's log says more",
                failed));
    }
}
