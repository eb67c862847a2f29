// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.spi.Execution;
import gatun.testing.Await;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A model that records the rows it gets from the sequences that tests send it, one step after the other and several at
 * a time.
 */
@Timeout(60)
abstract class SequenceRecording {
    static final String TENSORS = """
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    static final String FLAGS = """
            control_input [
              { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ -1, 7 ] } ] },
              { name: "END" control [ { kind: CONTROL_SEQUENCE_END fp32_false_true: [ 0.5, 1.5 ] } ] },
              { name: "READY" control [ { kind: CONTROL_SEQUENCE_READY bool_false_true: [ false, true ] } ] }
            """;

    static final String NUMBERED =
            FLAGS + ", { name: \"ID\" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } ] } ]\n";

    static final String NAMED =
            FLAGS + ", { name: \"ID\" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_STRING } ] } ]\n";

    static final String FOREVER = "max_sequence_idle_microseconds: 60000000\n";

    /** One row as the model got it. */
    record Row(int start, float end, boolean ready, String id, float value) {
        static final Row GAP = new Row(-1, 0.5f, false, "0", 0);

        Row withId(String other) {
            return new Row(start, end, ready, other, value);
        }

        static Row first(long id, float value) {
            return new Row(7, 0.5f, true, Long.toString(id), value);
        }

        static Row middle(long id, float value) {
            return new Row(-1, 0.5f, true, Long.toString(id), value);
        }

        static Row last(long id, float value) {
            return new Row(-1, 1.5f, true, Long.toString(id), value);
        }
    }

    final List<List<Row>> runs = new CopyOnWriteArrayList<>();
    final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    TestServer test;
    volatile CountDownLatch gate = new CountDownLatch(0);
    volatile boolean failing;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        gate.countDown();
        clients.close();
        test.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
    }

    void open(int maxBatchSize, String sequenceBatching) {
        String config = "backend: \"scripted\" max_batch_size: " + maxBatchSize + " sequence_batching { "
                + sequenceBatching + "}\n" + TENSORS;
        test.model("m", config).open(this::run);
    }

    void run(Execution execution) {
        runs.add(rows(execution));
        try {
            assertThat(gate.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (failing) {
            throw new GatunException(ErrorCode.INTERNAL, "the engine failed");
        }
        ScriptedBackend.copy(execution);
    }

    private static List<Row> rows(Execution execution) {
        Tensor values = execution.input(0);
        int count = (int) values.spec().shape().dim(0);
        MemorySegment starts = control(execution, "START", Datatype.INT32);
        MemorySegment ends = control(execution, "END", Datatype.FP32);
        MemorySegment ready = control(execution, "READY", Datatype.BOOL);
        Tensor ids = input(execution, "ID");
        List<String> names = new ArrayList<>();
        if (ids.spec().datatype() == Datatype.BYTES) {
            BytesCodec.forEach(
                    ids.bytes(), (offset, byteSize) -> names.add(BytesCodec.text(ids.bytes(), offset, byteSize)));
        } else {
            for (int i = 0; i < count; i++) {
                names.add(Long.toUnsignedString(ids.bytes().getAtIndex(ElementLayouts.INT64, i)));
            }
        }
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add(new Row(
                    starts.getAtIndex(ElementLayouts.INT32, i),
                    ends.getAtIndex(ElementLayouts.FP32, i),
                    ready.get(ValueLayout.JAVA_BYTE, i) != 0,
                    names.get(i),
                    values.bytes().getAtIndex(ElementLayouts.FP32, i)));
        }
        return rows;
    }

    private static MemorySegment control(Execution execution, String name, Datatype datatype) {
        Tensor control = input(execution, name);
        assertThat(control.spec().datatype()).isEqualTo(datatype);
        assertThat(control.spec().shape().elementCount())
                .isEqualTo(control.spec().shape().dim(0));
        return control.bytes();
    }

    private static Tensor input(Execution execution, String name) {
        for (int i = 0; i < execution.inputCount(); i++) {
            if (execution.inputSpec(i).name().equals(name)) {
                return execution.input(i);
            }
        }
        throw new AssertionError("no input " + name);
    }

    InferenceRequest step(long id, float value, String flags) {
        InferenceRequest request = test.request("m");
        request.correlationId(id);
        return step(request, value, flags);
    }

    InferenceRequest step(InferenceRequest request, float value, String flags) {
        request.sequenceStart(flags.contains("start"));
        request.sequenceEnd(flags.contains("end"));
        boolean batching = request.model().config().getMaxBatchSize() > 0;
        test.input(request, "IN", batching ? new long[] {1, 1} : new long[] {1});
        request.inputs().getFirst().bytes().setAtIndex(ElementLayouts.FP32, 0, value);
        return request;
    }

    /** The one value of the response. */
    float answer(InferenceRequest request) {
        try (request;
                InferenceResponse response = test.server().infer(request)) {
            Tensor out = response.outputs().getFirst().tensor();
            assertThat(out.spec().shape())
                    .isEqualTo(request.inputs().getFirst().spec().shape());
            return out.bytes().getAtIndex(ElementLayouts.FP32, 0);
        }
    }

    Future<Float> send(InferenceRequest request) {
        return clients.submit(() -> answer(request));
    }

    static float get(Future<Float> answer) throws Exception {
        return answer.get(30, TimeUnit.SECONDS);
    }

    void awaitPending(long count) {
        Await.until(
                count + " requests in the queue",
                () -> test.server().statistics().getFirst().totals().pendingRequestCount() == count);
    }

    void awaitRuns(int count) {
        Await.until("run " + count, () -> runs.size() >= count);
    }

    static void assertRefused(ErrorCode code, String text, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(GatunException.class, e -> {
            assertThat(e.code()).isEqualTo(code);
            assertThat(e).hasMessage(text);
        });
    }
}
