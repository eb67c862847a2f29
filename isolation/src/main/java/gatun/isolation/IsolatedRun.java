// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.isolation.frames.Job;
import gatun.isolation.frames.RequestEffect;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.workers.FrameReader;
import gatun.workers.FrameValues;
import gatun.workers.FrameWriter;
import gatun.workers.MalformedFrameException;
import gatun.workers.SharedMemoryChannel;
import gatun.workers.WorkerMemory;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A run of an instance in a process: its inputs, and what the process says of it. For the run's thread. */
final class IsolatedRun {
    private static final int OK = 0;
    private static final int REFUSED = 1;
    private static final int STARTS = 1;
    private static final int ENDS = 2;

    private final EngineProcess process;
    private final RunLine line;
    private final Job job;
    private final List<? extends Execution> executions;
    private final WorkerMemory memory;
    /** For each input where it lies: in the server's memory, or, as the complement, in a block of the process's own. */
    private final List<Long> places = new ArrayList<>();

    private final List<Tensor> inputs = new ArrayList<>();
    private List<Long> returned = List.of();

    /** An output that the process says it has made. */
    private sealed interface Output {
        record Own(int index, Datatype datatype, Shape shape, long offset, long byteSize) implements Output {}

        record FromInput(int index, Shape shape, int input) implements Output {}
    }

    IsolatedRun(EngineProcess process, RunLine line, Job job, List<? extends Execution> executions) {
        this.process = process;
        this.line = line;
        this.job = job;
        this.executions = executions;
        memory = process.memory();
    }

    /** Runs to the end within {@code limit}, zero for ever. Throws when the engine fails or the process ends. */
    void run(Duration limit) {
        SharedMemoryChannel mailbox = line.mailbox();
        try {
            for (Execution execution : executions) {
                for (int i = 0; i < execution.inputCount(); i++) {
                    Tensor input = execution.input(i); // once, since that may copy it
                    inputs.add(input);
                    places.add(place(input.bytes()));
                }
            }
            mailbox.askToStop(false);
            if (!executions.isEmpty()) {
                executions.getFirst().inferStarted();
            }
            returned = memory.drainReturned();
            if (!post(mailbox)) {
                throw process.death();
            }
            finish(mailbox, limit);
        } catch (MalformedFrameException e) {
            process.kill(e.getMessage());
            throw process.death();
        } finally {
            for (long place : places) {
                if (place < 0) {
                    memory.takeBack(~place);
                }
            }
        }
    }

    private boolean post(SharedMemoryChannel mailbox) {
        try {
            return mailbox.post(SharedMemoryChannel.Turn.RUN, this::write);
        } catch (GatunException e) {
            process.tellReturned(returned);
            throw e;
        }
    }

    private long place(MemorySegment input) {
        OptionalLong there = process.inServerMemory(input);
        return there.isPresent() ? there.getAsLong() : ~memory.place(input);
    }

    private void write(FrameWriter frame) {
        frame.u32(returned.size());
        returned.forEach(frame::u64);
        frame.u8(job.number()).u32(executions.size());
        int next = 0;
        for (Execution execution : executions) {
            frame.text(execution.entryPoint()).u64(execution.timeLeftNanos()).u32(execution.inputCount());
            for (int i = 0; i < execution.inputCount(); i++) {
                Tensor input = inputs.get(next);
                FrameValues.writeSpec(frame, input.spec());
                frame.u64(places.get(next++)).u64(input.bytes().byteSize());
            }
            frame.u32(execution.outputCount());
            for (int i = 0; i < execution.outputCount(); i++) {
                frame.text(execution.outputName(i));
            }
            frame.u32(execution.requests().size());
            execution.requests().forEach(request -> write(frame, request));
        }
    }

    private static void write(FrameWriter frame, ExecutionRequest request) {
        frame.text(request.id());
        FrameValues.writeSequence(frame, request.correlationId());
        frame.u8((request.startsSequence() ? STARTS : 0) | (request.endsSequence() ? ENDS : 0))
                .u32(request.batchSize());
        FrameValues.writeParameters(frame, request.parameters());
        frame.u64(request.timeoutMicros())
                .u64(request.priority())
                .text(request.traceContext().orElse(""));
    }

    /** Takes what the process says until the run is over. */
    private void finish(SharedMemoryChannel mailbox, Duration limit) {
        long endNanos = System.nanoTime() + limit.toNanos();
        @Nullable GatunException refused = null;
        while (true) {
            long left = limit.isZero() ? 0 : Math.max(1, endNanos - System.nanoTime());
            switch (mailbox.awaitServer(left)) {
                case MORE -> {
                    refused = send(mailbox.frame());
                    @Nullable GatunException reason = refused;
                    mailbox.post(SharedMemoryChannel.Turn.GO_ON, frame -> {
                        if (reason == null) {
                            frame.u8(OK);
                        } else {
                            FrameValues.writeFailure(frame.u8(REFUSED), reason);
                        }
                    });
                }
                case DONE -> {
                    done(mailbox.frame(), refused);
                    return;
                }
                case IDLE -> process.kill("a run took longer than execution_timeout_ms, " + limit.toMillis());
                default -> throw process.death();
            }
        }
    }

    /** Sends a response of an execution; returns why it could not be sent, or null. */
    private @Nullable GatunException send(FrameReader frame) {
        int index = frame.u32();
        if (index < 0 || index >= executions.size()) {
            throw wrong("execution " + index);
        }
        try {
            Execution execution = executions.get(index);
            take(execution, frame);
            if (frame.u8() == OK) {
                execution.send();
            } else {
                execution.sendFailure(FrameValues.readFailure(frame));
            }
            return null;
        } catch (MalformedFrameException e) {
            throw e;
        } catch (GatunException e) {
            return e;
        }
    }

    private void done(FrameReader frame, @Nullable GatunException refused) {
        int how = frame.u8();
        if (how != OK) {
            GatunException reason = FrameValues.readFailure(frame);
            if (refused != null) {
                throw refused;
            }
            if (how == REFUSED) {
                throw reason;
            }
            throw new IllegalStateException("in the engine's process: " + reason.getMessage());
        }
        if (!executions.isEmpty()) {
            executions.getFirst().inferEnded();
        }
        int count = frame.count(1);
        if (count != executions.size()) {
            throw wrong(count + " executions");
        }
        for (Execution execution : executions) {
            take(execution, frame);
        }
    }

    /** Gives an execution its outputs, and tells its requests what the engine said of them. */
    private void take(Execution execution, FrameReader frame) {
        List<Output> outputs = frame.list(1, () -> output(execution, frame));
        List<ExecutionRequest> requests = execution.requests();
        int count = frame.count(Integer.BYTES);
        if (count != requests.size()) {
            throw wrong(count + " requests");
        }
        for (ExecutionRequest request : requests) {
            int told = frame.count(1);
            for (int i = 0; i < told; i++) {
                RequestEffect.read(frame).tell(request);
            }
        }
        int given = 0;
        try {
            for (Output output : outputs) {
                requireFit(execution, output);
                given++;
                give(execution, output);
            }
        } finally {
            outputs.subList(given, outputs.size()).forEach(this::giveBack);
        }
    }

    private void give(Execution execution, Output output) {
        switch (output) {
            case Output.FromInput made -> execution.outputFromInput(made.index(), made.input(), made.shape());
            case Output.Own made ->
                execution.lendOutput(
                        made.index(),
                        made.datatype(),
                        made.shape(),
                        memory.response(made.offset(), made.byteSize()),
                        memory.hold(made.offset(), made.byteSize()));
        }
    }

    private void giveBack(Output output) {
        if (output instanceof Output.Own made) {
            memory.giveBack(made.offset(), Math.max(0, made.byteSize()));
        }
    }

    private static Output output(Execution execution, FrameReader frame) {
        int index = frame.u32();
        boolean fromInput = frame.u8() != 0;
        Datatype datatype = FrameValues.readDatatype(frame);
        Shape shape = FrameValues.readShape(frame);
        if (index < 0 || index >= execution.outputCount()) {
            throw wrong("output " + index);
        }
        if (fromInput) {
            int input = frame.u32();
            if (input < 0 || input >= execution.inputCount()) {
                throw wrong("input " + input);
            }
            return new Output.FromInput(index, shape, input);
        }
        return new Output.Own(index, datatype, shape, frame.u64(), frame.u64());
    }

    /** @throws GatunException for what an engine makes of a model, where the process itself is sound */
    private static void requireFit(Execution execution, Output output) {
        if (!(output instanceof Output.Own made)) {
            return;
        }
        boolean fits = made.shape().elementCount() >= 0
                && (made.datatype() == Datatype.BYTES || made.shape().byteSize(made.datatype()) == made.byteSize())
                && made.byteSize() >= 0;
        if (!fits) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "the engine gives output '" + execution.outputName(made.index()) + "' of " + made.datatype()
                            + " and shape " + made.shape() + " in " + made.byteSize()
                            + " bytes, which do not fit together");
        }
    }

    private static MalformedFrameException wrong(String what) {
        return new MalformedFrameException("it names " + what + ", which there is not");
    }
}
