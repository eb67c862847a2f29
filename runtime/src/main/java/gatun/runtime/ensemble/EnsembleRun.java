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
import gatun.runtime.execution.ComposedAnswer;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.SharedHolds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request on its way through the steps of an ensemble. The request's thread runs the first step that can run, virtual threads those
 * beside it; whoever completes a step goes on with one that this made possible. The first failure stops everything, and the request's
 * thread answers when no step runs any more.
 */
final class EnsembleRun {
    private static final Logger LOG = LoggerFactory.getLogger(EnsembleRun.class);
    private static final int UNWANTED = -1;

    private final Ensemble ensemble;
    private final EnsemblePlan plan;
    private final InferenceRequest request;
    private final ComposedAnswer answer;
    private final boolean[] needed;

    /** Which output of the answer each tensor is, or {@link #UNWANTED}. */
    private final int[] wanted;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle =
            lock.newCondition(); // awaited by the request's thread, signalled when the last step is over

    // Guarded by lock while steps run.
    private final @Nullable EnsembleTensor[] tensors;
    private final int[] missingInputs;
    private final List<InferenceRequest> asked = new ArrayList<>();
    private int threads;
    private boolean stopped;
    private @Nullable GatunException failure;

    /** A run that answers {@code request}, which its caller owns, by {@code answer}. */
    EnsembleRun(Ensemble ensemble, InferenceRequest request, ComposedAnswer answer) {
        this.ensemble = ensemble;
        this.plan = ensemble.plan();
        this.request = request;
        this.answer = answer;
        tensors = new EnsembleTensor[plan.tensorCount()];
        wanted = new int[plan.tensorCount()];
        Arrays.fill(wanted, UNWANTED);
        int[] answered = new int[answer.outputCount()];
        for (int i = 0; i < answered.length; i++) {
            answered[i] = plan.tensor(answer.outputName(i));
            wanted[answered[i]] = i;
        }
        needed = request.outputs().isEmpty() ? plan.allSteps() : plan.needed(answered);
        missingInputs = new int[plan.steps().size()];
        for (EnsembleStep step : plan.steps()) {
            missingInputs[step.index()] = step.inputs().size();
        }
    }

    /**
     * Runs the steps; parks the calling thread until they are over.
     *
     * @throws GatunException the first failure of a step, named after the ensemble
     */
    InferenceResponse answer() {
        try {
            List<EnsembleStep> ready = begin();
            if (!ready.isEmpty()) {
                startBeside(ready);
                follow(ready.getFirst());
                awaitIdle();
            }
            return finish();
        } catch (GatunException e) {
            answer.fail(e);
            throw e;
        } finally {
            release();
        }
    }

    /** Gives the request up: the members are told to stop, and no further step begins. For any thread. */
    void cancel() {
        stop(new GatunException(ErrorCode.CANCELLED, ""));
    }

    private void stop(GatunException reason) {
        List<InferenceRequest> running;
        lock.lock();
        try {
            if (stopped) {
                return;
            }
            stopped = true;
            failure = reason;
            running = List.copyOf(asked);
        } finally {
            lock.unlock();
        }
        running.forEach(member -> member.cancellation().cancel());
    }

    /** Puts the request's tensors in their places; the steps that can run now. */
    private List<EnsembleStep> begin() {
        List<Hold> owned = new ArrayList<>();
        List<RegionLease> regions = new ArrayList<>();
        for (Hold hold : List.copyOf(request.holds())) {
            if (hold instanceof RegionLease lease) {
                regions.add(lease);
            } else if (request.release(hold)) {
                owned.add(hold);
            }
        }
        SharedHolds memory = new SharedHolds(owned);
        lock.lock();
        try {
            List<EnsembleStep> ready = new ArrayList<>();
            for (int tensor = 0; tensor < tensors.length; tensor++) {
                if (plan.producer(tensor) == EnsemblePlan.FROM_REQUEST) {
                    put(tensor, input(tensor, memory, !owned.isEmpty(), regions), ready);
                }
            }
            threads = ready.size();
            return ready;
        } finally {
            lock.unlock();
            memory.release();
        }
    }

    private EnsembleTensor input(int number, SharedHolds memory, boolean owned, List<RegionLease> regions) {
        String name = plan.tensorName(number);
        for (Tensor input : request.inputs()) {
            if (input.spec().name().equals(name)) {
                Optional<RegionLease> region =
                        regions.stream().filter(lease -> lies(input, lease)).findFirst();
                return owned && region.isEmpty()
                        ? EnsembleTensor.owned(input, memory, readers(number))
                        : EnsembleTensor.borrowed(input, region);
            }
        }
        return EnsembleTensor.absent();
    }

    private static boolean lies(Tensor input, RegionLease lease) {
        long offset = input.bytes().address() - lease.segment().address();
        return offset >= 0 && offset < Math.max(1, lease.segment().byteSize());
    }

    /** How many will read that tensor: the steps that this run needs, and the answer. */
    private int readers(int tensor) {
        int readers = wanted[tensor] == UNWANTED ? 0 : 1;
        for (int consumer : plan.consumers(tensor)) {
            if (needed[consumer]) {
                readers++;
            }
        }
        return readers;
    }

    /** Notes a tensor that is there now; adds the steps that waited for nothing else to {@code ready}. */
    private void put(int tensor, EnsembleTensor made, List<EnsembleStep> ready) {
        tensors[tensor] = made;
        for (int consumer : plan.consumers(tensor)) {
            missingInputs[consumer]--;
            if (missingInputs[consumer] == 0 && needed[consumer]) {
                ready.add(plan.steps().get(consumer));
            }
        }
    }

    /** Starts all of {@code ready} but the first, each of which is counted in {@link #threads} already. */
    private void startBeside(List<EnsembleStep> ready) {
        for (int i = 1; i < ready.size(); i++) {
            EnsembleStep step = ready.get(i);
            try {
                Thread.ofVirtual()
                        .name("ensemble-" + ensemble.name() + "-" + step.model())
                        .start(() -> follow(step));
            } catch (RuntimeException | Error e) {
                failUnexpectedly(step, e);
                leave();
            }
        }
    }

    /** Runs a step, and then one after the other that become possible by it. */
    private void follow(EnsembleStep first) {
        try {
            List<EnsembleStep> ready = List.of(first);
            while (!ready.isEmpty()) {
                ready = run(ready.getFirst());
                startBeside(ready);
            }
        } finally {
            leave();
        }
    }

    private void leave() {
        lock.lock();
        try {
            threads--;
            if (threads == 0) {
                idle.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    private void awaitIdle() {
        lock.lock();
        try {
            while (threads > 0) {
                idle.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Runs one step; the steps that can run now because of it. */
    private List<EnsembleStep> run(EnsembleStep step) {
        try {
            ServedModel member = ensemble.members().member(step.model(), step.version());
            try (InferenceRequest memberRequest = request.onBehalf(member)) {
                if (!prepare(step, member, memberRequest)) {
                    return List.of();
                }
                try {
                    return took(step, ask(step, member, memberRequest));
                } finally {
                    over(memberRequest);
                }
            }
        } catch (GatunException e) {
            stop(e.code() == ErrorCode.CANCELLED ? e : prefixed(e));
        } catch (RuntimeException | Error e) {
            failUnexpectedly(step, e);
        }
        return List.of();
    }

    /** Asks a member; where it was replaced since it was found, its successor. */
    private InferenceResponse ask(EnsembleStep step, ServedModel member, InferenceRequest memberRequest) {
        ServedModel asked = member;
        while (true) {
            try {
                return asked.infer(memberRequest);
            } catch (GatunException e) {
                if (e.code() != ErrorCode.UNAVAILABLE || asked.ready()) {
                    throw e;
                }
                ServedModel successor = ensemble.members().member(step.model(), step.version());
                if (successor.equals(asked)) {
                    throw e;
                }
                asked = successor;
            }
        }
    }

    private GatunException prefixed(GatunException failure) {
        return new GatunException(failure.code(), prefix() + failure.getMessage(), failure);
    }

    private String prefix() {
        return "in ensemble '" + ensemble.name() + "', ";
    }

    private void failUnexpectedly(EnsembleStep step, Throwable failed) {
        LOG.error(
                "Step {} of ensemble '{}', model '{}', failed unexpectedly",
                step.index(),
                ensemble.name(),
                step.model(),
                failed);
        stop(new GatunException(
                ErrorCode.INTERNAL,
                prefix() + "model '" + step.model() + "' failed unexpectedly; the server's log says more",
                failed));
    }

    /** Gives a member's request its tensors and says that it runs; false when the run was stopped. */
    private boolean prepare(EnsembleStep step, ServedModel member, InferenceRequest memberRequest) {
        lock.lock();
        try {
            if (stopped) {
                return false;
            }
            for (EnsembleStep.Link link : step.inputs()) {
                EnsembleTensor source = tensors[link.tensor()];
                if (source != null && source.tensor().isPresent()) {
                    addInput(
                            memberRequest,
                            member,
                            link.name(),
                            source,
                            source.tensor().get());
                }
            }
            for (EnsembleStep.Link link : step.outputs()) {
                if (readers(link.tensor()) > 0) {
                    memberRequest.addOutput(new RequestedOutput(link.name(), destination(link.tensor()), 0));
                }
            }
            asked.add(memberRequest);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private static void addInput(
            InferenceRequest memberRequest, ServedModel member, String name, EnsembleTensor source, Tensor tensor) {
        memberRequest.hold(source.claim().orElseGet(() -> new BorrowedMemory(tensor.bytes(), source.region())));
        memberRequest.addInput(new Tensor(
                new TensorSpec(
                        name,
                        tensor.spec().datatype(),
                        TensorShapes.fit(
                                tensor.spec().shape(),
                                name,
                                member.inputs(),
                                member.config().getMaxBatchSize() > 0)),
                tensor.bytes()));
    }

    /** Where the client wants a tensor, if the member may write it there: nobody else reads it, and it is wanted as it is. */
    private Optional<RegionLease> destination(int tensor) {
        if (wanted[tensor] == UNWANTED || readers(tensor) > 1) {
            return Optional.empty();
        }
        RequestedOutput output = answer.wanted(wanted[tensor]);
        return output.classification() > 0 ? Optional.empty() : output.destination();
    }

    @SuppressWarnings("ReferenceEquality") // it is that very request
    private void over(InferenceRequest memberRequest) {
        lock.lock();
        try {
            asked.removeIf(request -> request == memberRequest);
        } finally {
            lock.unlock();
        }
    }

    /** Puts what a member answered in its place; owns the response. */
    private List<EnsembleStep> took(EnsembleStep step, InferenceResponse response) {
        SharedHolds memory = new SharedHolds(List.of(response::close));
        List<EnsembleStep> ready = new ArrayList<>();
        lock.lock();
        try {
            int answered = 0;
            for (EnsembleStep.Link link : step.outputs()) {
                int readers = readers(link.tensor());
                if (readers > 0) {
                    Tensor tensor = response.outputs().get(answered++).tensor();
                    put(link.tensor(), EnsembleTensor.owned(tensor, memory, readers), ready);
                }
            }
            if (stopped) {
                return List.of();
            }
            threads += Math.max(0, ready.size() - 1);
            return ready;
        } finally {
            lock.unlock();
            memory.release();
        }
    }

    /** The answer. No step runs any more, so that the tensors need no lock. */
    private InferenceResponse finish() {
        throwFailure();
        for (int i = 0; i < answer.outputCount(); i++) {
            EnsembleTensor made = tensors[plan.tensor(answer.outputName(i))];
            if (made == null || made.tensor().isEmpty()) {
                throw GatunException.invalidArgument(
                        prefix() + "[request id: "
                                + (request.id().isEmpty() ? "<id_unknown>" : request.id())
                                + "] unexpected deadlock, at least one output is not set while no more ensemble steps can be made");
            }
            answer(i, made, made.tensor().get());
        }
        return answer.response(ensemble.name(), ensemble.versionText());
    }

    private void throwFailure() {
        lock.lock();
        try {
            if (failure != null) {
                throw failure;
            }
        } finally {
            lock.unlock();
        }
    }

    private void answer(int index, EnsembleTensor made, Tensor tensor) {
        TensorSpec spec = tensor.spec();
        Tensor fitted = new Tensor(
                new TensorSpec(
                        answer.outputName(index),
                        spec.datatype(),
                        TensorShapes.fit(
                                spec.shape(), answer.outputName(index), ensemble.outputs(), ensemble.batching())),
                tensor.bytes());
        made.claim()
                .ifPresentOrElse(claim -> answer.output(index, fitted, claim), () -> answer.outputCopy(index, fitted));
    }

    /** Gives up the memory that no step and no answer took over; no step runs any more. */
    private void release() {
        for (EnsembleTensor made : tensors) {
            if (made != null) {
                made.release();
            }
        }
    }
}
