// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.OutputTensor;
import gatun.runtime.RequestedOutput;
import gatun.spi.ExecutionRequest;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One run of an instance: hands the backend its inputs and decides where each output goes. One object serves all runs of
 * the instance, one after the other; used by the instance's thread only.
 */
class InstanceExecution extends TimedExecution {
    private final BufferPool pool;

    private @Nullable InferenceTicket ticket;
    private int sent;

    InstanceExecution(BufferPool pool) {
        super(pool);
        this.pool = pool;
    }

    /** Begins a run for one request. */
    void begin(InferenceTicket next) {
        ticket = next;
        sent = 0;
        start();
    }

    /**
     * Ends a run that the backend says it finished: what the client wanted of the outputs is made, and its regions are its
     * own again.
     */
    void finish() {
        InferenceTicket done = ticket();
        if (sent > 1) {
            throw new GatunException(ErrorCode.INTERNAL, "expected a single response, got " + sent);
        }
        for (int i = 0; i < done.outputCount(); i++) {
            if (done.result(i) == null) {
                throw new GatunException(
                        ErrorCode.INTERNAL,
                        "the backend gave no output '" + outputName(i) + "' of model '"
                                + done.signature().modelName() + "'");
            }
            classify(i);
        }
        done.settle();
        answered(done);
        end();
    }

    /** Turns output {@code index} into classes where it is made and the client wants that. */
    final void classify(int index) {
        InferenceTicket running = ticket();
        OutputTensor result = running.result(index);
        if (result != null && running.wanted(index).classification() > 0) {
            Classification.apply(running, index, result, running.signature().leadingDims(), pool);
        }
    }

    /** Notes that the run failed, or was told to stop. */
    void brokenOff() {
        // One response would have been one request, and those are counted.
    }

    /** Forgets the run, so that nothing of the request is kept alive, but for its times. */
    final void clear() {
        end();
        forget();
        ticket = null;
    }

    /** The request of the run. */
    final InferenceTicket ticket() {
        InferenceTicket running = ticket;
        if (running == null || !isRunner()) {
            throw afterRun();
        }
        return running;
    }

    @Override
    public List<ExecutionRequest> requests() {
        return List.of(ticket());
    }

    /** Counts only: one response is made of what there is at the end. */
    @Override
    public void send() {
        sent++;
    }

    @Override
    public String entryPoint() {
        return ticket().signature().entryPoint().name();
    }

    @Override
    public int inputCount() {
        return ticket().inputCount();
    }

    @Override
    public TensorSpec inputSpec(int index) {
        return ticket().input(index).spec();
    }

    @Override
    public Tensor input(int index) {
        return ticket().input(index);
    }

    @Override
    public int outputCount() {
        return ticket().outputCount();
    }

    @Override
    public String outputName(int index) {
        return ticket().rule(index).name();
    }

    @Override
    public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
        TensorSpec spec = spec(index, datatype, shape, byteSize);
        Optional<RegionLease> destination = ticket().wanted(index).destination();
        if (destination.isPresent()) {
            MemorySegment window = window(spec.name(), destination.get(), byteSize);
            ticket().result(index, new OutputTensor(new Tensor(spec, window), true), null);
            return window;
        }
        Buffer buffer = take(byteSize);
        MemorySegment bytes = buffer.segment();
        ticket().result(index, new OutputTensor(new Tensor(spec, bytes), false), buffer);
        return bytes;
    }

    @Override
    public DeviceMemory output(int index, Datatype datatype, Shape shape, long byteSize, DeviceTransfers transfers) {
        RequestedOutput wanted = ticket().wanted(index);
        RegionLease destination = wanted.destination().orElse(null);
        if (destination == null || wanted.classification() > 0 || !transfers.isOn(destination.device())) {
            return super.output(index, datatype, shape, byteSize, transfers);
        }
        TensorSpec spec = spec(index, datatype, shape, byteSize);
        Tensor result = tensor(spec, destination, byteSize);
        ticket().result(index, new OutputTensor(result, true), null);
        return transfers.target(result.device().orElseThrow());
    }

    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        InferenceTicket running = ticket();
        Tensor source = running.input(input);
        boolean mustLieElsewhere = running.wanted(output).destination().isPresent() || !running.ownsInputMemory();
        if (mustLieElsewhere) {
            long byteSize = source.byteSize();
            TensorCopy.copy(source.bytes(), output(output, source.spec().datatype(), shape, byteSize));
            return;
        }
        TensorSpec spec = spec(output, source.spec().datatype(), shape, source.byteSize());
        running.result(output, new OutputTensor(new Tensor(spec, source.bytes()), false), null);
        running.showInputs();
    }

    /** What the client is told of an output of which the backend says {@code datatype} and {@code shape}. */
    private TensorSpec spec(int index, Datatype datatype, Shape shape, long byteSize) {
        InferenceTicket running = ticket();
        OutputRule rule = running.rule(index);
        ModelSignature signature = running.signature();
        TensorSpec spec = rule.answered(datatype, shape, signature);
        rule.requireShape(shape, running.batchSize(), signature);
        rule.requireSize(shape, byteSize, signature);
        return spec;
    }

    private Tensor tensor(TensorSpec spec, RegionLease destination, long byteSize) {
        try {
            RequestErrors.requireRoom(spec.name(), destination, byteSize);
            return Tensor.inRegion(spec, destination, byteSize);
        } catch (GatunException e) {
            throw refuse(e);
        }
    }

    private MemorySegment window(String output, RegionLease destination, long byteSize) {
        try {
            return RequestErrors.window(output, destination, byteSize);
        } catch (GatunException e) {
            throw refuse(e);
        }
    }
}
