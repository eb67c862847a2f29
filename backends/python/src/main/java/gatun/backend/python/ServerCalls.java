// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.backend.python.Codec.WorkerTensor;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Tensor;
import gatun.spi.CorrelationId;
import gatun.spi.ExecutionRequest;
import gatun.spi.ModelCall;
import gatun.spi.ModelServer;
import gatun.spi.ParameterValue;
import gatun.workers.FrameReader;
import gatun.workers.FrameValues;
import gatun.workers.FrameWriter;
import gatun.workers.WorkerMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.LongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A worker's calls to the server. {@link #take} is for its frame reader; virtual threads do what may block. */
final class ServerCalls implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ServerCalls.class);

    /** How many calls of a worker may be under way: more are a model that never waits for an answer. */
    private static final int LIMIT = 4096;

    private static final int INFER = 1;
    private static final int CANCEL = 2;
    private static final int CANCELLED = 3;
    private static final int LOAD = 4;
    private static final int UNLOAD = 5;
    private static final int READY = 6;

    private final ModelServer server;
    private final WorkerMemory memory;
    private final Sender sender;
    private final LongFunction<Optional<ExecutionRequest>> requests;
    private final MetricCalls metrics;
    private final Map<Long, ModelCall> underWay = new ConcurrentHashMap<>();
    private final Semaphore room = new Semaphore(LIMIT);

    /** Sends frames to the worker. */
    @FunctionalInterface
    interface Sender {
        void send(int kind, Consumer<FrameWriter> body);
    }

    /** @param requests what is known of the requests that the worker has, by their numbers */
    ServerCalls(
            ModelServer server, WorkerMemory memory, Sender sender, LongFunction<Optional<ExecutionRequest>> requests) {
        this.server = server;
        this.memory = memory;
        this.sender = sender;
        this.requests = requests;
        metrics = new MetricCalls(server.metrics());
    }

    void take(FrameReader frame) {
        long call = frame.u64();
        int method = frame.u8();
        switch (method) {
            case INFER -> infer(call, frame);
            case CANCEL -> {
                ModelCall unwanted = underWay.get(frame.u64());
                if (unwanted != null) {
                    unwanted.cancel();
                }
            }
            case CANCELLED -> {
                Optional<ExecutionRequest> known = requests.apply(frame.u64());
                value(call, known.filter(ExecutionRequest::cancelled).isPresent() ? 1 : 0);
            }
            case LOAD -> load(call, frame);
            case UNLOAD -> {
                String model = frame.text();
                boolean dependents = frame.u8() != 0;
                begin(call, () -> server.unload(model, dependents));
            }
            case READY -> value(call, server.isReady(frame.text(), frame.text()) ? 1 : 0);
            default -> answer(call, () -> metrics.take(method, frame));
        }
    }

    private void answer(long call, DoubleSupplier action) {
        double value;
        try {
            value = action.getAsDouble();
        } catch (GatunException e) {
            error(call, e);
            return;
        }
        if (Double.isNaN(value)) {
            result(call, Kind.NOTHING, frame -> {});
        } else {
            value(call, value);
        }
    }

    private void infer(long call, FrameReader frame) {
        String model = frame.text();
        long version = frame.u64();
        ModelCall wanted = new ModelCall(model, version < 0 ? "" : Long.toString(version));
        wanted.id(frame.text());
        FrameValues.readSequence(frame).ifPresentOrElse(sequence -> step(wanted, sequence, frame.u32()), frame::u32);
        wanted.timeoutMicros(frame.u64());
        wanted.priority(frame.u64());
        if (frame.u8() != 0) {
            wanted.takeSeveral();
        }
        long madeFor = frame.u64();
        if (madeFor != 0) {
            requests.apply(madeFor - 1).ifPresent(wanted::madeFor);
        }
        wanted.parameters().putAll(FrameValues.readParameters(frame));
        frame.list(Integer.BYTES, frame::text).forEach(wanted::output);
        List<WorkerTensor> inputs = WorkerResponse.readTensors(frame);
        // The model that is asked reads the inputs, though the worker end meanwhile.
        Hold inputMemory = memory.use();
        underWay.put(call, wanted);
        begin(call, () -> infer(call, wanted, inputs), () -> {
            underWay.remove(call);
            inputs.forEach(input -> memory.giveBack(input.offset(), input.byteSize()));
            inputMemory.close();
        });
    }

    /** Has the server answer a call; true when the last of its responses was marked so. */
    private boolean infer(long call, ModelCall wanted, List<WorkerTensor> inputs) {
        boolean[] ended = new boolean[1];
        try {
            for (WorkerTensor input : inputs) {
                wanted.input(new Tensor(input.spec(), memory.response(input.offset(), input.byteSize())));
            }
            server.infer(wanted, new Results(call, ended));
            return ended[0];
        } catch (GatunException e) {
            throw e.code() == ErrorCode.NOT_FOUND
                    ? new GatunException(e.code(), wanted.model() + " - Error when running inference: " + text(e), e)
                    : e;
        }
    }

    /** Sends the results of a call. */
    private final class Results implements ModelCall.Responses {
        private final long call;
        private final boolean[] ended;

        Results(long call, boolean[] ended) {
            this.call = call;
            this.ended = ended;
        }

        @Override
        public void accept(List<Tensor> tensors, Map<String, ParameterValue> parameters, boolean last) {
            response(call, tensors, parameters, last);
            ended[0] = last;
        }

        @Override
        public void acceptFailure(GatunException reason) {
            sender.send(Kind.RESULT, frame -> {
                frame.u64(call).u8(0).u8(Kind.ERROR);
                frame.u8(Codec.code(reason.code())).text(text(reason));
            });
        }
    }

    private static void step(ModelCall call, CorrelationId sequence, int flags) {
        call.step(sequence, (flags & 1) != 0, (flags & 2) != 0);
    }

    private void load(long call, FrameReader frame) {
        String model = frame.text();
        String configuration = frame.text();
        Map<String, MemorySegment> files = new HashMap<>();
        int count = frame.count(2 * Integer.BYTES);
        for (int i = 0; i < count; i++) {
            files.put(frame.text(), MemorySegment.ofArray(frame.bytes()));
        }
        begin(call, () -> server.load(model, configuration, files));
    }

    private void begin(long call, Runnable action) {
        BooleanSupplier unended = () -> {
            action.run();
            return false;
        };
        begin(call, unended, () -> {});
    }

    /** Runs {@code action}, which may wait, and {@code after}, also if refused. Unless true, sends a last result. */
    private void begin(long call, BooleanSupplier action, Runnable after) {
        if (!room.tryAcquire()) {
            after.run();
            error(
                    call,
                    new GatunException(
                            ErrorCode.UNAVAILABLE, "the model has " + LIMIT + " calls under way, which is the limit"));
            return;
        }
        Thread.ofVirtual().name("worker-call").start(() -> {
            try {
                boolean ended;
                try {
                    ended = action.getAsBoolean();
                } finally {
                    after.run();
                }
                if (!ended) {
                    result(call, Kind.NOTHING, frame -> {});
                }
            } catch (GatunException e) {
                error(call, e);
            } catch (RuntimeException | Error e) {
                LOG.error("A call of a Python model failed", e);
                error(call, new GatunException(ErrorCode.INTERNAL, "the server has failed: " + e, e));
            } finally {
                room.release();
            }
        });
    }

    private void response(long call, List<Tensor> tensors, Map<String, ParameterValue> parameters, boolean last) {
        List<Long> offsets = new ArrayList<>(tensors.size());
        try {
            for (Tensor tensor : tensors) {
                offsets.add(memory.place(tensor.bytes()));
            }
            sender.send(Kind.RESULT, frame -> {
                frame.u64(call).u8(last ? 1 : 0).u8(Kind.RESPONSE);
                FrameValues.writeParameters(frame, parameters);
                frame.u32(tensors.size());
                for (int i = 0; i < tensors.size(); i++) {
                    Tensor tensor = tensors.get(i);
                    Codec.writeTensor(
                            frame, tensor.spec(), offsets.get(i), tensor.bytes().byteSize());
                }
            });
        } catch (RuntimeException e) {
            offsets.forEach(memory::takeBack);
            throw e;
        }
    }

    private void value(long call, double value) {
        result(call, Kind.VALUE, frame -> frame.f64(value));
    }

    private void error(long call, GatunException reason) {
        result(call, Kind.ERROR, frame -> frame.u8(Codec.code(reason.code())).text(text(reason)));
    }

    private static String text(GatunException reason) {
        String text = reason.getMessage();
        return text == null ? "" : text;
    }

    private void result(long call, int outcome, Consumer<FrameWriter> body) {
        try {
            sender.send(Kind.RESULT, frame -> {
                frame.u64(call).u8(1).u8(outcome);
                body.accept(frame);
            });
        } catch (GatunException e) {
            LOG.debug("A result came too late for its worker", e);
        }
    }

    /** Ends the calls under way: the worker has ended. */
    @Override
    public void close() {
        underWay.values().forEach(ModelCall::cancel);
        metrics.close();
    }
}
