// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.spi.Execution;
import gatun.testing.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models that can be called in several ways. */
@Timeout(60)
class EntryPointTest {
    private static final String MODEL = """
            backend: "scripted" max_batch_size: 8
            dynamic_batching { }
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] } ]
            instance_group { count: 1 }
            """;

    private static final List<EntryPoint> ENTRY_POINTS = List.of(
            new EntryPoint("main", "predict", List.of(tensor("IN", -1, 2)), List.of(tensor("OUT", -1, 2))),
            new EntryPoint("rows", "regress", List.of(tensor("x", -1, 3)), List.of(tensor("y", -1, 3))),
            new EntryPoint("alone", "classify", List.of(anything("x")), List.of(anything("y"))));

    /** The entry point and the input's shape of each run, as "entry point shape". */
    private final BlockingQueue<String> runs = new LinkedBlockingQueue<>();

    private TestServer test;

    private static EntryTensor tensor(String name, long... dims) {
        return new EntryTensor(new TensorSpec(name, Datatype.FP32, Shape.of(dims)), false, name + ":0");
    }

    private static EntryTensor anything(String name) {
        return new EntryTensor(new TensorSpec(name, Datatype.FP32, Shape.of()), true, name + ":0");
    }

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
    }

    private void open(String config) {
        test.model("m", config).open(this::copy, ENTRY_POINTS);
    }

    private void copy(Execution execution) {
        runs.add(execution.entryPoint() + " " + execution.inputSpec(0).shape());
        ScriptedBackend.copy(execution);
    }

    private InferenceRequest request(String entryPoint, String input, long... dims) {
        InferenceRequest request = test.input(test.request("m"), input, dims);
        request.entryPoint(entryPoint);
        return request;
    }

    private String answer(InferenceRequest request) {
        try (request;
                InferenceResponse response = test.server().infer(request)) {
            TensorSpec spec = response.outputs().getFirst().tensor().spec();
            return spec.name() + " " + spec.shape();
        }
    }

    @Test
    void shouldTellWhatAModelCanBeAsked() {
        open(MODEL);
        assertThat(test.server().model("m", "").entryPoints().values()).containsExactlyElementsOf(ENTRY_POINTS);
    }

    @Test
    void shouldHaveOneEntryPointWhereTheBackendKnowsOfNone() {
        test.model("m", MODEL).open(this::copy);
        ModelVersion model = test.server().model("m", "");
        assertThat(model.entryPoints().values())
                .containsExactly(new EntryPoint(
                        EntryPoint.DEFAULT,
                        "",
                        List.of(EntryTensor.of(model.inputs().getFirst())),
                        List.of(EntryTensor.of(model.outputs().getFirst()))));
        assertThat(answer(request(EntryPoint.DEFAULT, "IN", 1, 2))).isEqualTo("OUT [1,2]");
        assertThat(runs).containsExactly("serving_default [1,2]");
    }

    @Test
    void shouldCheckARequestAgainstItsEntryPoint() {
        open(MODEL);
        assertThat(answer(request("", "IN", 1, 2))).isEqualTo("OUT [1,2]");
        assertThat(answer(request("main", "IN", 1, 2))).isEqualTo("OUT [1,2]");
        assertThat(answer(request("rows", "x", 4, 3))).isEqualTo("y [4,3]");
        assertThat(answer(request("alone", "x"))).isEqualTo("y []");
        assertThat(answer(request("alone", "x", 9, 1, 1))).isEqualTo("y [9,1,1]");
        assertThat(runs).containsExactly("main [1,2]", "main [1,2]", "rows [4,3]", "alone []", "alone [9,1,1]");
        assertThatThrownBy(() -> answer(request("rows", "IN", 1, 2)))
                .hasMessageContaining("unexpected inference input 'IN'");
        assertThatThrownBy(() -> answer(request("rows", "x", 1, 2))).hasMessageContaining("Expected [-1,3], got [1,2]");
        assertThatThrownBy(() -> answer(request("rows", "x", 9, 3))).hasMessageContaining("batch-size must be <= 8");
        assertThatThrownBy(() -> answer(request("none", "x", 1, 3)))
                .hasMessageContaining("model 'm' has no entry point 'none'; it has main, rows, alone");
    }

    @Test
    void shouldNotRunRequestsOfDifferentEntryPointsTogether() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        test.model("m", MODEL)
                .open(
                        execution -> {
                            if (execution.inputSpec(0).shape().equals(Shape.of(8, 2))) {
                                busy.countDown();
                                Await.opened(gate);
                            }
                            copy(execution);
                        },
                        ENTRY_POINTS);
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<String> blocker = clients.submit(() -> answer(request("", "IN", 8, 2)));
            Await.opened(busy);
            List<Future<String>> responses = new ArrayList<>();
            List<InferenceRequest> requests = List.of(
                    request("rows", "x", 1, 3),
                    request("rows", "x", 2, 3),
                    request("", "IN", 1, 2),
                    request("alone", "x", 1, 3),
                    request("alone", "x", 1, 3));
            for (int i = 0; i < requests.size(); i++) {
                InferenceRequest request = requests.get(i);
                responses.add(clients.submit(() -> answer(request)));
                awaitPending(i + 1);
            }
            gate.countDown();
            assertThat(blocker.get(30, TimeUnit.SECONDS)).isEqualTo("OUT [8,2]");
            List<String> seen = new ArrayList<>();
            for (Future<String> answer : responses) {
                seen.add(answer.get(30, TimeUnit.SECONDS));
            }
            assertThat(seen).containsExactly("y [1,3]", "y [2,3]", "OUT [1,2]", "y [1,3]", "y [1,3]");
        }
        assertThat(runs).containsExactly("main [8,2]", "rows [3,3]", "main [1,2]", "alone [1,3]", "alone [1,3]");
    }

    @Test
    void shouldNotTakeAnAnswerOfAnotherEntryPointFromTheCache() {
        test.model("m", MODEL + "response_cache { enable: true }");
        test.open(this::copy, options -> {
            test.backend.entryPoints = ENTRY_POINTS;
            return options.responseCacheByteSize(1 << 20);
        });
        assertThat(answer(request("main", "IN", 1, 2))).isEqualTo("OUT [1,2]");
        assertThat(answer(request("", "IN", 1, 2))).isEqualTo("OUT [1,2]");
        assertThat(answer(request("rows", "x", 1, 3))).isEqualTo("y [1,3]");
        assertThat(answer(request("rows", "x", 1, 3))).isEqualTo("y [1,3]");
        assertThat(runs).containsExactly("main [1,2]", "rows [1,3]", "rows [1,3]");
        assertThat(test.server().model("m", "").entryPoints()).hasSize(3);
    }

    private void awaitPending(int count) {
        Await.until(
                "%s to wait".formatted(count),
                () -> test.server().statistics().getFirst().totals().pendingRequestCount() >= count);
    }
}
