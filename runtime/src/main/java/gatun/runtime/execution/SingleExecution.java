// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.RequestedOutput;
import gatun.runtime.execution.RequestTensors.RegionLeases;
import gatun.runtime.execution.Run.InputCopies;
import gatun.runtime.execution.Run.ModelExecution;
import gatun.runtime.statistics.ResponseTable;
import gatun.spi.DetachedRun;
import gatun.spi.ExecutionRequest;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A run for one request, or a request's part of a run that takes them apart. A decoupled model's outputs go out in as
 * many responses as the backend sends; a client window keeps the last. Used by the instance's thread only.
 */
final class SingleExecution implements ModelExecution {
    private final Run run;
    private final BufferPool pool;

    /** The outcomes of single responses; null unless the model is decoupled. */
    private final @Nullable ResponseTable responses;

    private final Predicate<DetachedRun> detacher;
    private final InputCopies copies;
    private @Nullable PendingInference pending;

    /** Whether the run goes on beside the instance. */
    private boolean apart;

    private int sent;

    /** What was sent last, where that was a failure; for decoupled models. */
    private @Nullable GatunException lastFailure;

    /** @param detacher has another thread do the rest of the run; {@code responses} is null unless decoupled */
    SingleExecution(BufferPool pool, @Nullable ResponseTable responses, Predicate<DetachedRun> detacher) {
        this(new Run(pool), pool, responses, detacher);
    }

    private SingleExecution(
            Run run, BufferPool pool, @Nullable ResponseTable responses, Predicate<DetachedRun> detacher) {
        this.detacher = detacher;
        this.run = run;
        copies = new InputCopies(run);
        this.pool = pool;
        this.responses = responses;
    }

    static SingleExecution partOf(Run run, BufferPool pool) {
        return new SingleExecution(run, pool, null, rest -> false);
    }

    /** Takes up a request of a run that has begun; null for none. */
    void take(@Nullable PendingInference next) {
        pending = next;
        copies.clear();
        apart = false;
        sent = 0;
        lastFailure = null;
    }

    void begin(PendingInference next) {
        take(next);
        run.start();
        if (responses != null) {
            next.progress().begin(run.startedNanos());
        }
    }

    @Override
    public Run run() {
        return run;
    }

    @Override
    public boolean detach(DetachedRun rest) {
        pending();
        return !apart && detacher.test(rest);
    }

    /** Has the calling thread go on with a run that was detached. */
    void moveToCaller() {
        apart = true;
        run.moveToCaller();
    }

    @Override
    public long timeLeftNanos() {
        return pending().timeLeftNanos();
    }

    @Override
    public void finish() {
        PendingInference done = pending();
        if (done.failure().isPresent()) {
            throw done.failure().get();
        }
        if (responses == null) {
            requireOneResponse(done);
            done.settle();
        } else if (!done.isAnythingMade() || !send(done, responses, true)) {
            if (done.cancelled()) {
                done.progress().brokenOff(responses, true);
            } else {
                done.progress().ended(responses);
            }
        }
        run.markAnswered(done);
        run.end();
    }

    private void requireOneResponse(PendingInference done) {
        if (sent > 1) {
            throw new GatunException(ErrorCode.INTERNAL, "expected a single response, got " + sent);
        }
        for (int i = 0; i < done.tensors().outputCount(); i++) {
            if (done.result(i) == null && !done.leavesOut(i)) {
                throw new GatunException(
                        ErrorCode.INTERNAL,
                        "the backend gave no output '" + outputName(i) + "' of model '"
                                + done.signature().modelName() + "'");
            }
            classify(done, i);
        }
    }

    /** Turns output {@code index} into classes where it is made and the client wants that. */
    private void classify(PendingInference running, int index) {
        OutputTensor result = running.result(index);
        if (result != null && running.tensors().requestedOutput(index).classification() > 0) {
            Classification.apply(running, index, result, running.signature().leadingDims(), pool);
        }
    }

    /** Sends the outputs that were made as a response; false when the request is left out. */
    private boolean send(PendingInference running, ResponseTable table, boolean last) {
        long madeNanos = System.nanoTime();
        try {
            for (int i = 0; i < running.tensors().outputCount(); i++) {
                classify(running, i);
            }
            running.settle();
            boolean sentNow = running.send(last);
            if (sentNow) {
                running.progress().sent(table, madeNanos);
                lastFailure = null;
            }
            return sentNow;
        } catch (GatunException e) {
            throw run.refuse(e);
        }
    }

    @Override
    public void sendFailure(GatunException reason) {
        PendingInference running = pending();
        if (responses == null) {
            throw reason;
        }
        long madeNanos = System.nanoTime();
        try {
            running.sendFailure(reason);
        } catch (GatunException e) {
            throw run.refuse(e);
        }
        running.progress().sentFailure(responses, madeNanos);
        lastFailure = reason;
    }

    /** The failure that the client got last; empty where it got a response after it, or no failure. */
    Optional<GatunException> lastFailure() {
        return Optional.ofNullable(lastFailure);
    }

    @Override
    public void breakOff() {
        // One response would have been one request, and those are counted.
        if (responses != null) {
            pending().progress().brokenOff(responses, pending().cancelled());
        }
    }

    @Override
    public void clear() {
        run.clear();
        copies.clear();
        pending = null;
    }

    private PendingInference pending() {
        PendingInference running = pending;
        if (running == null) {
            throw Run.afterRun();
        }
        run.requireThread();
        return running;
    }

    @Override
    public List<ExecutionRequest> requests() {
        return List.of(pending());
    }

    /** Sends the outputs when the model is decoupled; else only counts, as one response is made at the end. */
    @Override
    public void send() {
        if (responses == null) {
            sent++;
        } else {
            send(pending(), responses, false);
        }
    }

    @Override
    public String entryPoint() {
        return pending().signature().entryPoint().name();
    }

    @Override
    public int inputCount() {
        return pending().tensors().inputCount();
    }

    @Override
    public TensorSpec inputSpec(int index) {
        return pending().tensors().input(index).spec();
    }

    @Override
    public Tensor input(int index) {
        RequestTensors tensors = pending().tensors();
        return tensors.mustCopy(index) ? copies.of(index, tensors.input(index)) : tensors.input(index);
    }

    @Override
    public DeviceMemory input(int index, DeviceTransfers transfers) {
        RequestTensors tensors = pending().tensors();
        return DeviceBatch.bring(tensors.input(index), tensors.isCopied(index), transfers);
    }

    @Override
    public int outputCount() {
        return pending().tensors().outputCount();
    }

    @Override
    public String outputName(int index) {
        return pending().tensors().rule(index).name();
    }

    @Override
    public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
        PendingInference running = pending();
        OutputTensor result = running.repeatResult(index, datatype, shape, byteSize);
        if (result == null) {
            TensorSpec spec = spec(running, index, datatype, shape, byteSize);
            Optional<RegionLease> destination =
                    running.tensors().requestedOutput(index).destination();
            if (destination.isEmpty()) {
                Buffer buffer = run.take(byteSize);
                MemorySegment bytes = buffer.segment();
                running.result(index, new OutputTensor(new Tensor(spec, bytes), false), buffer);
                return bytes;
            }
            result = inWindow(spec, destination.get(), byteSize);
            running.result(index, result, null);
        }
        if (running.tensors().mustStage(index)) {
            Buffer buffer = run.take(byteSize);
            running.stage(index, result, buffer.segment(), buffer);
            return buffer.segment();
        }
        return result.tensor().bytes();
    }

    @Override
    public void lendOutput(int output, Datatype datatype, Shape shape, MemorySegment bytes, Hold hold) {
        boolean kept = false;
        try {
            PendingInference running = pending();
            RequestedOutput requested = running.tensors().requestedOutput(output);
            if (requested.destination().isPresent()) {
                TensorSpec spec = spec(running, output, datatype, shape, bytes.byteSize());
                running.stage(output, inWindow(spec, requested.destination().get(), bytes.byteSize()), bytes, hold);
                kept = true;
                return;
            }
            if (requested.classification() > 0) {
                TensorCopy.copy(bytes, output(output, datatype, shape, bytes.byteSize()));
                return;
            }
            OutputRule rule = running.tensors().rule(output);
            TensorSpec spec = rule.shaped(datatype, shape, running.signature());
            rule.requireSize(datatype, shape, bytes.byteSize(), running.signature());
            running.result(output, new OutputTensor(new Tensor(spec, bytes), false), hold);
            kept = true;
        } finally {
            if (!kept) {
                hold.close();
            }
        }
    }

    @Override
    public DeviceMemory output(int index, Datatype datatype, Shape shape, long byteSize, DeviceTransfers transfers) {
        PendingInference running = pending();
        RequestedOutput requested = running.tensors().requestedOutput(index);
        RegionLease destination = requested.destination().orElse(null);
        if (destination == null || requested.classification() > 0 || !transfers.isOn(destination.device())) {
            return transfers.deliver(output(index, datatype, shape, byteSize));
        }
        TensorSpec spec = spec(running, index, datatype, shape, byteSize);
        Tensor result = tensor(spec, destination, byteSize);
        running.result(index, new OutputTensor(result, true), null);
        DeviceMemory window = result.device().orElseThrow();
        return running.tensors().rule(index).isCopied() ? transfers.aside(window) : transfers.target(window);
    }

    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        PendingInference running = pending();
        Tensor source = running.tensors().input(input);
        Optional<RegionLease> destination =
                running.tensors().requestedOutput(output).destination();
        if (destination.isPresent()) {
            TensorSpec spec = spec(running, output, source.spec().datatype(), shape, source.byteSize());
            // Each byte is read once, whoever writes the input meanwhile.
            running.stage(output, inWindow(spec, destination.get(), source.byteSize()), source.bytes(), null);
            return;
        }
        // The next of several responses may show the same input, and only one could own its memory.
        if (responses != null || !RegionLeases.isNoneIn(running.request().holds())) {
            long byteSize = source.byteSize();
            TensorCopy.copy(source.bytes(), output(output, source.spec().datatype(), shape, byteSize));
            return;
        }
        TensorSpec spec = spec(running, output, source.spec().datatype(), shape, source.byteSize());
        running.result(output, new OutputTensor(new Tensor(spec, source.bytes()), false), null);
        running.showInputs();
    }

    private static TensorSpec spec(PendingInference running, int index, Datatype datatype, Shape shape, long byteSize) {
        OutputRule rule = running.tensors().rule(index);
        ModelSignature signature = running.signature();
        TensorSpec spec = rule.answered(datatype, shape, signature);
        rule.requireShape(shape, running.batchSize(), signature);
        rule.requireSize(datatype, shape, byteSize, signature);
        return spec;
    }

    private Tensor tensor(TensorSpec spec, RegionLease destination, long byteSize) {
        try {
            RequestErrors.requireRoom(spec.name(), destination, byteSize);
            return Tensor.inRegion(spec, destination, byteSize);
        } catch (GatunException e) {
            throw run.refuse(e);
        }
    }

    /** An output as it lies in the client's system memory, which has room for it. */
    private OutputTensor inWindow(TensorSpec spec, RegionLease destination, long byteSize) {
        try {
            MemorySegment window = RequestErrors.window(spec.name(), destination, byteSize);
            return new OutputTensor(new Tensor(spec, window), true);
        } catch (GatunException e) {
            throw run.refuse(e);
        }
    }
}
