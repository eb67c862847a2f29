// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.isolation.EngineProcess.Engine;
import gatun.isolation.frames.Job;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.spi.Execution;
import gatun.spi.Tuning;
import gatun.wire.inference.ModelConfig;
import gatun.workers.FrameValues;
import gatun.workers.FrameWriter;
import gatun.workers.SharedMemoryChannel;
import gatun.workers.SharedMemoryChannels;
import gatun.workers.WorkerEnd;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a process says of a run. The process is a real one, whose side of the mailbox the test takes, and says there what
 * a sound one never would.
 */
@Timeout(60)
class IsolatedRunTest {
    private static final int OK = 0;
    private static final int OWN = 0;
    private static final int FROM_INPUT = 1;

    private EngineProcess process;
    private final CompletableFuture<WorkerEnd> end = new CompletableFuture<>();
    private final SharedMemoryChannels mailboxes = SharedMemoryChannels.create();
    private final RunLine line = RunLine.create(0, mailboxes, 0, Tuning.OFF);
    private final SharedMemoryChannel worker = mailboxes.mailbox(0, 0, Tuning.OFF);

    /** A run with one output and no input. */
    private static final class OneOutput implements Execution {
        @Override
        public int inputCount() {
            return 0;
        }

        @Override
        public Tensor input(int index) {
            throw new AssertionError("there is no input " + index);
        }

        @Override
        public int outputCount() {
            return 1;
        }

        @Override
        public String outputName(int index) {
            return "OUT";
        }

        @Override
        public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
            throw new AssertionError("nothing that is given is sound");
        }

        @Override
        public void outputFromInput(int output, int input, Shape shape) {
            throw new AssertionError("nothing that is given is sound");
        }

        @Override
        public void inferStarted() {}

        @Override
        public void inferEnded() {}
    }

    @BeforeEach
    void startProcess() {
        process = EngineProcess.start(
                "silent",
                inherited -> EngineCommand.of(
                        "silent", ProcessSettings.of(ModelConfig.getDefaultInstance()), Optional.empty(), inherited),
                new Engine("silent", Map.of(), 1 << 20, Optional.empty()));
        process.servesAs("m_0");
        process.onEnd(end::complete);
    }

    @AfterEach
    void close() {
        process.close();
        line.close();
        worker.close();
        mailboxes.close();
    }

    /** The failure of a run of which the process says this. */
    private GatunException run(Consumer<FrameWriter> said) {
        Thread saying = Thread.ofVirtual().start(() -> {
            worker.awaitWorker();
            worker.post(SharedMemoryChannel.Turn.DONE, said);
        });
        GatunException failure = catchThrowableOfType(
                GatunException.class,
                () -> new IsolatedRun(process, line, Job.EXECUTE, List.of(new OneOutput())).run(Duration.ZERO));
        assertThat(failure).isNotNull();
        assertThat(failure.code()).isEqualTo(ErrorCode.INTERNAL);
        assertThat(saying).satisfies(Thread::join);
        return failure;
    }

    private void assertEnded(GatunException failure, String reason) throws Exception {
        assertThat(failure)
                .hasMessageStartingWith(
                        "the process of model instance 'm_0' was ended by the server, because " + reason);
        assertThat(end.get(30, TimeUnit.SECONDS).reason()).isEqualTo(WorkerEnd.Reason.SERVER);
        assertThat(process.isRunning()).isFalse();
    }

    private static FrameWriter outputs(FrameWriter frame, int count) {
        return frame.u8(OK).u32(1).u32(count);
    }

    private static FrameWriter ownOutput(FrameWriter frame, int index, long... dims) {
        FrameWriter output = outputs(frame, 1).u32(index).u8(OWN);
        FrameValues.writeDatatype(output, Datatype.FP32);
        FrameValues.writeShape(output, Shape.of(dims));
        return output;
    }

    @Test
    void shouldEndAProcessThatNamesAnOutputWhichThereIsNot() throws Exception {
        assertEnded(run(frame -> ownOutput(frame, 1, 1).u64(0).u64(4)), "it names output 1, which there is not");
    }

    @Test
    void shouldEndAProcessThatNamesAnInputWhichThereIsNot() throws Exception {
        assertEnded(
                run(frame -> {
                    FrameWriter output = outputs(frame, 1).u32(0).u8(FROM_INPUT);
                    FrameValues.writeDatatype(output, Datatype.FP32);
                    FrameValues.writeShape(output, Shape.of(1));
                    output.u32(0);
                }),
                "it names input 0, which there is not");
    }

    @Test
    void shouldEndAProcessThatAnswersForMoreExecutionsThanItGot() throws Exception {
        assertEnded(run(frame -> frame.u8(OK).u32(2).u64(0)), "it names 2 executions, which there is not");
    }

    @Test
    void shouldEndAProcessWhoseFrameEndsTooEarly() throws Exception {
        assertEnded(run(frame -> outputs(frame, 1).u32(0)), "a worker sent a frame that ends too early");
    }

    @Test
    void shouldEndAProcessThatNamesMemoryWhichItDoesNotHave() throws Exception {
        assertEnded(
                run(frame -> ownOutput(frame, 0, 1).u64(1L << 40).u64(4).u32(0)),
                "the process of instance 'silent' names memory that it does not have");
    }

    @Test
    void shouldRefuseAnOutputWhoseShapeAndSizeDoNotFitAndKeepTheProcess() {
        assertThat(run(frame -> ownOutput(frame, 0, 2).u64(0).u64(4).u32(0)))
                .hasMessage(
                        "the engine gives output 'OUT' of FP32 and shape [2] in 4 bytes, which do not fit together");
        assertThat(run(frame -> ownOutput(frame, 0, -1, -1).u64(0).u64(4).u32(0)))
                .hasMessageContaining("of FP32 and shape [-1,-1] in 4 bytes");
        assertThat(run(frame -> ownOutput(frame, 0, -3).u64(0).u64(-12).u32(0)))
                .hasMessageContaining("of FP32 and shape [-3] in -12 bytes");
        assertThat(run(frame ->
                        ownOutput(frame, 0, 1L << 40, 1L << 40).u64(0).u64(0).u32(0)))
                .hasMessageContaining("which do not fit together");
        assertThat(end).isNotDone();
        assertThat(process.isRunning()).isTrue();
    }

    /** Otherwise an engine that gives one often has no memory left. */
    @Test
    void shouldGiveTheBlocksBackOfOutputsThatAreRefused() {
        run(frame -> {
            FrameWriter outputs = outputs(frame, 2);
            for (long offset : new long[] {64, 128}) {
                FrameValues.writeDatatype(outputs.u32(0).u8(OWN), Datatype.FP32);
                FrameValues.writeShape(outputs, Shape.of(-3));
                outputs.u64(offset).u64(-12);
            }
            outputs.u32(0);
        });
        assertThat(process.memory().drainReturned()).containsExactly(64L, 128L);
    }
}
