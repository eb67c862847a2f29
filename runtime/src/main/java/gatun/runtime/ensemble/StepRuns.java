package gatun.runtime.ensemble;

import gatun.memory.Hold;
import gatun.memory.RegionLease;
import gatun.memory.Tensor;
import gatun.memory.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.OutputTensor;
import gatun.runtime.RequestedOutput;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.SharedHolds;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The steps that belong together: those that run once for the request, or those that run once for one response of a decoupled member. The
 * request's thread runs the first step that can run, virtual threads those beside it; whoever completes a step goes on with one that this
 * made possible.
 */
final class StepRuns {
    private final EnsembleRun run;
    private final EnsemblePlan plan;

    /** The member whose response this is for, or {@link ResponseStreams#NONE}. */
    private final int stream;

    /** Whether the answer is made when these steps are over; otherwise more of them begin then. */
    private final boolean last;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle =
            lock.newCondition(); // awaited by the request's thread, signalled when the last step is over

    // Guarded by lock while steps run.
    private final @Nullable EnsembleTensor[] tensors;
    private final int[] missingInputs;
    private final List<EnsembleTensor> made = new ArrayList<>();
    private int threads;

    /** The steps that run once for the request. */
    StepRuns(EnsembleRun run, EnsemblePlan plan, boolean last) {
        this.run = run;
        this.plan = plan;
        this.stream = ResponseStreams.NONE;
        this.last = last;
        tensors = new EnsembleTensor[plan.tensorCount()];
        missingInputs = new int[plan.steps().size()];
        for (EnsembleStep step : plan.steps()) {
            missingInputs[step.index()] = step.inputs().size();
        }
    }

    /** The steps that run for one response of {@code stream}, which {@code outer} prepared and outlives. */
    StepRuns(StepRuns outer, int stream, boolean last) {
        run = outer.run;
        plan = outer.plan;
        this.stream = stream;
        this.last = last;
        tensors = outer.tensors.clone();
        missingInputs = outer.missingInputs.clone();
    }

    /**
     * Puts the request's tensors in their places and runs what they make possible; parks the calling thread until no step runs any more.
     *
     * @param memory what keeps those inputs valid that lie in no region; its maker lets go of it
     * @param owned whether that is anything
     */
    void runFrom(InferenceRequest request, SharedHolds memory, boolean owned, List<RegionLease> regions) {
        List<EnsembleStep> ready = new ArrayList<>();
        lock.lock();
        try {
            for (int tensor = 0; tensor < tensors.length; tensor++) {
                if (plan.producer(tensor) == EnsemblePlan.FROM_REQUEST) {
                    put(tensor, input(request, tensor, memory, owned, regions), ready);
                }
            }
            threads = ready.size();
        } finally {
            lock.unlock();
        }
        memory.release();
        run(ready);
    }

    /** As {@link #runFrom(InferenceRequest, SharedHolds, boolean, List)} from a response of a decoupled member; owns it. */
    void runFrom(EnsembleStep step, InferenceResponse response) {
        List<EnsembleStep> ready = new ArrayList<>();
        take(step, response, ready);
        lock.lock();
        try {
            threads = ready.size();
        } finally {
            lock.unlock();
        }
        run(ready);
    }

    private void run(List<EnsembleStep> ready) {
        if (!ready.isEmpty()) {
            startBeside(ready);
            follow(ready.getFirst());
            awaitIdle();
        }
    }

    private EnsembleTensor input(
            InferenceRequest request, int number, SharedHolds memory, boolean owned, List<RegionLease> regions) {
        String name = plan.tensorName(number);
        for (Tensor input : request.inputs()) {
            if (input.spec().name().equals(name)) {
                Optional<RegionLease> region =
                        regions.stream().filter(lease -> lies(input, lease)).findFirst();
                return owned && region.isEmpty()
                        ? owned(number, input, memory)
                        : EnsembleTensor.borrowed(input, region);
            }
        }
        return EnsembleTensor.absent();
    }

    private static boolean lies(Tensor input, RegionLease lease) {
        long offset = input.bytes().address() - lease.segment().address();
        return offset >= 0 && offset < Math.max(1, lease.segment().byteSize());
    }

    /** A tensor in memory of ours, for those who will read it. */
    private EnsembleTensor owned(int number, Tensor tensor, SharedHolds memory) {
        boolean readLater = run.isWanted(number) && !last;
        for (int consumer : plan.consumers(number)) {
            readLater |= run.isNeeded(consumer) && !isOwn(consumer);
        }
        return readLater
                ? EnsembleTensor.kept(tensor, memory)
                : EnsembleTensor.owned(tensor, memory, run.readers(number));
    }

    private boolean isOwn(int step) {
        return run.isOf(step, stream);
    }

    /** Notes a tensor that is there now; adds the steps that waited for nothing else to {@code ready}. */
    private void put(int number, EnsembleTensor tensor, List<EnsembleStep> ready) {
        tensors[number] = tensor;
        made.add(tensor);
        for (int consumer : plan.consumers(number)) {
            missingInputs[consumer]--;
            if (missingInputs[consumer] == 0 && run.isNeeded(consumer) && isOwn(consumer)) {
                ready.add(plan.steps().get(consumer));
            }
        }
    }

    /** Starts all of {@code ready} but the first, each of which is counted in {@link #threads} already. */
    private void startBeside(List<EnsembleStep> ready) {
        for (int i = 1; i < ready.size(); i++) {
            EnsembleStep step = ready.get(i);
            try {
                Thread.ofVirtual().name("ensemble-step-" + step.model()).start(() -> follow(step));
            } catch (RuntimeException | Error e) {
                run.failUnexpectedly(step, e);
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
        List<EnsembleStep> ready = new ArrayList<>();
        run.ask(step, this, (member, request) -> {
            take(step, member.infer(request), ready);
        });
        if (run.isStopped()) {
            return List.of();
        }
        lock.lock();
        try {
            threads += Math.max(0, ready.size() - 1);
        } finally {
            lock.unlock();
        }
        return ready;
    }

    /** Gives a member's request its tensors. */
    void prepare(EnsembleStep step, ServedModel member, InferenceRequest request) {
        lock.lock();
        try {
            for (EnsembleStep.Link link : step.inputs()) {
                EnsembleTensor source = tensors[link.tensor()];
                if (source != null && source.tensor().isPresent()) {
                    addInput(
                            request,
                            member,
                            link.name(),
                            source,
                            source.tensor().get());
                }
            }
        } finally {
            lock.unlock();
        }
        for (EnsembleStep.Link link : step.outputs()) {
            if (run.readers(link.tensor()) > 0) {
                request.addOutput(new RequestedOutput(link.name(), run.destination(link.tensor()), 0));
            }
        }
    }

    private static void addInput(
            InferenceRequest request, ServedModel member, String name, EnsembleTensor source, Tensor tensor) {
        request.hold(source.claim().orElseGet(() -> new BorrowedMemory(tensor.bytes(), source.region())));
        request.addInput(new Tensor(
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

    /** Puts what a member answered in its place; owns the response. A decoupled member may leave outputs out. */
    private void take(EnsembleStep step, InferenceResponse response, List<EnsembleStep> ready) {
        SharedHolds memory = new SharedHolds(List.<Hold>of(response::close));
        lock.lock();
        try {
            for (EnsembleStep.Link link : step.outputs()) {
                if (run.readers(link.tensor()) > 0) {
                    for (OutputTensor output : response.outputs()) {
                        if (output.tensor().spec().name().equals(link.name())) {
                            put(link.tensor(), owned(link.tensor(), output.tensor(), memory), ready);
                        }
                    }
                }
            }
        } finally {
            lock.unlock();
            memory.release();
        }
    }

    /** A tensor when no step runs any more; empty when nothing made it. */
    Optional<EnsembleTensor> tensor(int number) {
        return Optional.ofNullable(tensors[number])
                .filter(tensor -> tensor.tensor().isPresent());
    }

    /** Gives up the memory that no step and no answer took over; no step runs any more. */
    void release() {
        made.forEach(EnsembleTensor::release);
    }
}
