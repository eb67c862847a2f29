// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.engine;

import gatun.isolation.frames.RequestEffect;
import gatun.memory.buffers.Buffer;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.CorrelationId;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.spi.ParameterValue;
import gatun.workers.FrameReader;
import gatun.workers.FrameValues;
import gatun.workers.FrameWriter;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A run as the server describes it; what the engine makes is kept until it is sent. For the instance's thread. */
final class HostedExecution implements Execution {
    /** The output has memory of this process. */
    static final int OWN = 0;

    static final int INPUT = 1;

    private final int index;
    private final HostedInstance.Responses responses;
    private final String entryPoint;
    private final long endNanos;
    private final List<Tensor> inputs;
    private final List<String> outputNames;
    private final List<HostedRequest> requests;
    private final @Nullable Made[] made;

    /** An output that was made and not sent; an input, by its number, where it has no buffer. */
    private record Made(
            Datatype datatype, Shape shape, @Nullable Buffer buffer, int input) {
        private void drop() {
            if (buffer != null) {
                buffer.close();
            }
        }
    }

    private HostedExecution(
            int index,
            HostedInstance.Responses responses,
            String entryPoint,
            long timeLeftNanos,
            List<Tensor> inputs,
            List<String> outputNames,
            List<HostedRequest> requests) {
        this.index = index;
        this.responses = responses;
        this.entryPoint = entryPoint;
        this.endNanos = timeLeftNanos == Long.MAX_VALUE ? Long.MAX_VALUE : System.nanoTime() + timeLeftNanos;
        this.inputs = inputs;
        this.outputNames = outputNames;
        this.requests = requests;
        made = new Made[outputNames.size()];
    }

    /** Reads what the server says of execution {@code index} of a run. */
    static HostedExecution read(int index, FrameReader frame, HostedInstance.Responses responses) {
        String entryPoint = frame.text();
        long timeLeftNanos = frame.u64();
        List<Tensor> inputs = frame.list(1, () -> {
            TensorSpec spec = FrameValues.readSpec(frame);
            return new Tensor(spec, responses.memory().request(frame.u64(), frame.u64()));
        });
        List<String> outputs = frame.list(1, frame::text);
        List<HostedRequest> requests = frame.list(1, () -> new HostedRequest(frame, responses));
        return new HostedExecution(index, responses, entryPoint, timeLeftNanos, inputs, outputs, requests);
    }

    @Override
    public List<ExecutionRequest> requests() {
        return List.copyOf(requests);
    }

    @Override
    public String entryPoint() {
        return entryPoint;
    }

    @Override
    public long timeLeftNanos() {
        return endNanos == Long.MAX_VALUE ? Long.MAX_VALUE : endNanos - System.nanoTime();
    }

    @Override
    public int inputCount() {
        return inputs.size();
    }

    @Override
    public Tensor input(int number) {
        return inputs.get(number);
    }

    @Override
    public int outputCount() {
        return outputNames.size();
    }

    @Override
    public String outputName(int number) {
        return outputNames.get(number);
    }

    @Override
    public MemorySegment output(int number, Datatype datatype, Shape shape, long byteSize) {
        Buffer buffer;
        try {
            buffer = responses.memory().take(byteSize);
        } catch (GatunException e) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "output '" + outputNames.get(number) + "' of " + byteSize
                            + " bytes finds no room in the memory of the engine's process; set isolation_tensor_memory"
                            + " higher",
                    e);
        }
        set(number, new Made(datatype, shape, buffer, 0));
        return buffer.segment();
    }

    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        set(output, new Made(inputs.get(input).spec().datatype(), shape, null, input));
    }

    private void set(int number, Made output) {
        Made before = made[number];
        made[number] = output;
        if (before != null) {
            before.drop();
        }
    }

    @Override
    public void send() {
        responses.send(index, this, null);
    }

    @Override
    public void sendFailure(GatunException reason) {
        drop();
        responses.send(index, this, reason);
    }

    @Override
    public void inferStarted() {
        responses.stopAgain();
    }

    @Override
    public void inferEnded() {}

    /** Writes what was made since it was sent last, and what requests were told. */
    void write(FrameWriter frame) {
        int count = 0;
        for (Made output : made) {
            count += output == null ? 0 : 1;
        }
        frame.u32(count);
        for (int i = 0; i < made.length; i++) {
            Made output = made[i];
            if (output != null) {
                write(frame.u32(i), output);
            }
        }
        frame.u32(requests.size());
        requests.forEach(request -> request.writeTold(frame));
    }

    private static void write(FrameWriter frame, Made output) {
        frame.u8(output.buffer() == null ? INPUT : OWN);
        FrameValues.writeDatatype(frame, output.datatype());
        FrameValues.writeShape(frame, output.shape());
        if (output.buffer() == null) {
            frame.u32(output.input());
        } else {
            frame.u64(output.buffer().offset()).u64(output.buffer().byteSize());
        }
    }

    void lend() {
        for (int i = 0; i < made.length; i++) {
            Made output = made[i];
            if (output != null && output.buffer() != null) {
                responses.memory().lend(output.buffer());
            }
            made[i] = null;
        }
        requests.forEach(HostedRequest::forget);
    }

    void drop() {
        for (int i = 0; i < made.length; i++) {
            Made output = made[i];
            if (output != null) {
                output.drop();
            }
            made[i] = null;
        }
    }

    /** What the server says of a request, and what the engine tells of it. For the instance's thread. */
    static final class HostedRequest implements ExecutionRequest {
        private static final int STARTS = 1;
        private static final int ENDS = 2;

        private final HostedInstance.Responses responses;
        private final String id;
        private final Optional<CorrelationId> sequence;
        private final int flags;
        private final int batchSize;
        private final Map<String, ParameterValue> parameters;
        private final long timeoutMicros;
        private final long priority;
        private final String traceContext;
        private final List<RequestEffect> told = new ArrayList<>();

        private HostedRequest(FrameReader frame, HostedInstance.Responses responses) {
            this.responses = responses;
            id = frame.text();
            sequence = FrameValues.readSequence(frame);
            flags = frame.u8();
            batchSize = frame.u32();
            parameters = FrameValues.readParameters(frame);
            timeoutMicros = frame.u64();
            priority = frame.u64();
            traceContext = frame.text();
        }

        @Override
        public String id() {
            return id;
        }

        @Override
        public Optional<CorrelationId> correlationId() {
            return sequence;
        }

        @Override
        public boolean startsSequence() {
            return (flags & STARTS) != 0;
        }

        @Override
        public boolean endsSequence() {
            return (flags & ENDS) != 0;
        }

        @Override
        public int batchSize() {
            return batchSize;
        }

        @Override
        public Map<String, ParameterValue> parameters() {
            return parameters;
        }

        @Override
        public void responseParameter(String name, ParameterValue value) {
            told.add(new RequestEffect.Parameter(name, value));
        }

        @Override
        public void runAgain() {
            told.add(new RequestEffect.Again());
        }

        @Override
        public void skipResponse() {
            told.add(new RequestEffect.Skip());
        }

        @Override
        public void leaveOut(String output) {
            told.add(new RequestEffect.LeftOut(output));
        }

        @Override
        public boolean cancelled() {
            return responses.isUnwanted();
        }

        @Override
        public long timeoutMicros() {
            return timeoutMicros;
        }

        @Override
        public long priority() {
            return priority;
        }

        @Override
        public Optional<String> traceContext() {
            return traceContext.isEmpty() ? Optional.empty() : Optional.of(traceContext);
        }

        @Override
        public void traceActivity(String name) {
            told.add(new RequestEffect.Activity(name));
        }

        @Override
        public void fail(GatunException reason) {
            told.add(new RequestEffect.Failure(reason));
        }

        /** Writes what the engine has told since it was sent last. */
        void writeTold(FrameWriter frame) {
            frame.u32(told.size());
            told.forEach(one -> one.write(frame));
        }

        void forget() {
            told.clear();
        }
    }
}
