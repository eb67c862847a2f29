// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatistics;
import gatun.runtime.RequestedOutput;
import gatun.spi.Execution;
import gatun.spi.ParameterValue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CachedModelTest {
    private static final String PLAIN = """
            backend: "scripted" max_batch_size: 4
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            instance_group { count: 1 }
            """;
    private static final String CACHED = PLAIN + "response_cache { enable: true }";

    @TempDir
    Path repository;

    private final AtomicInteger runs = new AtomicInteger();
    private TestServer test;

    @BeforeEach
    void prepare() {
        test = new TestServer(repository);
    }

    @AfterEach
    void close() {
        test.close();
        assertThat(test.pool.usedBytes()).isZero();
    }

    private void compute(Execution execution) {
        runs.incrementAndGet();
        ScriptedBackend.copy(execution);
    }

    private void open() {
        test.open(this::compute, options -> options.responseCacheByteSize(1 << 20));
    }

    private InferenceRequest request(String model, long... dims) {
        return test.input(test.request(model), "IN", dims);
    }

    private float[] ask(InferenceRequest request) {
        try (InferenceResponse response = test.server().infer(request)) {
            return response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_FLOAT);
        }
    }

    @Test
    void shouldGiveTheParametersOfAModelAndNotRememberThem() {
        test.model("m", CACHED);
        test.open(
                execution -> {
                    int run = runs.incrementAndGet();
                    ScriptedBackend.copy(execution);
                    execution.requests().getFirst().responseParameter("run", new ParameterValue.Int64(run));
                },
                options -> options.responseCacheByteSize(1 << 20));
        for (int run = 1; run <= 2; run++) {
            try (InferenceResponse response = test.server().infer(request("m", 1, 3))) {
                assertThat(response.parameters()).containsExactly(Map.entry("run", new ParameterValue.Int64(run)));
            }
        }
        assertThat(test.server().statistics("m", "").getFirst().cache().hitCount())
                .isZero();
    }

    @Test
    void shouldAnswerAnEqualRequestWithoutTheModel() {
        test.model("m", CACHED);
        open();
        assertThat(ask(request("m", 1, 3))).containsExactly(0, 1, 2);
        InferenceRequest again = request("m", 1, 3);
        again.id("second");
        try (InferenceResponse response = test.server().infer(again)) {
            assertThat(response.id()).isEqualTo("second");
            assertThat(response.modelName()).isEqualTo("m");
            assertThat(response.modelVersion()).isEqualTo("1");
            Tensor output = response.outputs().getFirst().tensor();
            assertThat(output.spec()).isEqualTo(new TensorSpec("OUT", Datatype.FP32, Shape.of(1, 3)));
            assertThat(output.bytes().toArray(ValueLayout.JAVA_FLOAT)).containsExactly(0, 1, 2);
        }
        assertThat(runs).hasValue(1);
        ModelStatistics statistics = test.server().statistics("m", "").getFirst();
        assertThat(statistics.successCount()).isEqualTo(2);
        assertThat(statistics.totals().inferenceCount()).isEqualTo(1);
        assertThat(statistics.executionCount()).isEqualTo(1);
        assertThat(statistics.cache().hitCount()).isEqualTo(1);
        assertThat(statistics.cache().missCount()).isEqualTo(1);
        assertThat(statistics.cache().hitNanos()).isPositive();
        assertThat(statistics.cache().missNanos()).isPositive();
        assertThat(test.server().latencies()).singleElement().satisfies(latencies -> assertThat(latencies.cache())
                .hasValueSatisfying(cache -> {
                    assertThat(cache.hit().count()).isEqualTo(1);
                    assertThat(cache.hit().sumNanos())
                            .isEqualTo(statistics.cache().hitNanos());
                    assertThat(cache.miss().count()).isEqualTo(1);
                    assertThat(cache.miss().quantileNanos(1))
                            .isGreaterThanOrEqualTo(statistics.cache().missNanos());
                }));
    }

    @Test
    void shouldTellRequestsApartByShapeBytesParametersAndModel() {
        test.model("m", CACHED).model("other", CACHED);
        open();
        ask(request("m", 1, 4));
        ask(request("m", 2, 2));
        assertThat(runs).as("the same bytes in another shape").hasValue(2);
        InferenceRequest bytes = request("m", 1, 4);
        bytes.inputs().getFirst().bytes().setAtIndex(ValueLayout.JAVA_FLOAT, 3, 9);
        assertThat(ask(bytes)).containsExactly(0, 1, 2, 9);
        InferenceRequest parameter = request("m", 1, 4);
        parameter.parameter("p", new ParameterValue.Int64(1));
        ask(parameter);
        ask(request("other", 1, 4));
        assertThat(runs).hasValue(5);
        ask(request("m", 2, 2));
        assertThat(runs).hasValue(5);
    }

    @Test
    void shouldCacheOnlyWhereModelAndServerWantIt() {
        test.model("plain", PLAIN).model("m", CACHED);
        open();
        ask(request("plain", 1, 1));
        ask(request("plain", 1, 1));
        assertThat(runs).hasValue(2);
        test.server().close();
        test.open(this::compute);
        ask(request("m", 1, 1));
        ask(request("m", 1, 1));
        assertThat(runs).hasValue(4);
    }

    @Test
    void shouldAnswerEachClientInItsOwnRegion() {
        test.model("m", CACHED);
        open();
        try (Arena arena = Arena.ofShared()) {
            for (int i = 0; i < 2; i++) {
                FakeRegions.Lease input = new FakeRegions.Lease(arena.allocate(12));
                input.segment().copyFrom(MemorySegment.ofArray(new float[] {4, 5, 6}));
                FakeRegions.Lease output = new FakeRegions.Lease(arena.allocate(12));
                InferenceRequest request = test.request("m");
                request.hold(input);
                request.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(1, 3)), input.segment()));
                request.addOutput(new RequestedOutput("OUT", Optional.of(output), 0));
                request.hold(output);
                try (InferenceResponse response = test.server().infer(request)) {
                    assertThat(response.outputs().getFirst().inSharedMemory()).isTrue();
                    assertThat(output.segment().toArray(ValueLayout.JAVA_FLOAT)).containsExactly(4, 5, 6);
                    assertThat(output.settled).isEqualTo(1);
                }
                output.segment().fill((byte) 7); // what a client does with its memory is its own business
                assertThat(output.closed).isEqualTo(1);
            }
            FakeRegions.Lease small = new FakeRegions.Lease(arena.allocate(8));
            InferenceRequest request = test.request("m");
            FakeRegions.Lease input = new FakeRegions.Lease(arena.allocate(12));
            input.segment().copyFrom(MemorySegment.ofArray(new float[] {4, 5, 6}));
            request.hold(input);
            request.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(1, 3)), input.segment()));
            request.addOutput(new RequestedOutput("OUT", Optional.of(small), 0));
            request.hold(small);
            assertThatThrownBy(() -> test.server().infer(request))
                    .hasMessage("shared memory size specified with the request for output 'OUT' (8 bytes) should be at"
                            + " least 12 bytes to hold the results");
            assertThat(test.server()
                            .statistics("m", "")
                            .getFirst()
                            .totals()
                            .failures()
                            .other())
                    .isEqualTo(1);
        }
        assertThat(runs).hasValue(1);
    }

    @Test
    void shouldRememberTheInputThatTheModelSawAndNotWhatAClientMadeOfItMeanwhile() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment region = arena.allocate(4);
            test.model("m", CACHED);
            test.open(
                    execution -> {
                        region.set(ValueLayout.JAVA_FLOAT, 0, 666); // the client writes while the model reads
                        compute(execution);
                    },
                    options -> options.responseCacheByteSize(1 << 20));
            region.set(ValueLayout.JAVA_FLOAT, 0, 0);
            FakeRegions.Lease lease = new FakeRegions.Lease(region);
            InferenceRequest request = test.request("m");
            request.hold(lease);
            request.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(1, 1)), region));
            assertThat(ask(request)).containsExactly(0);
            assertThat(ask(request("m", 1, 1))).as("an honest client's").containsExactly(0);
            assertThat(runs).hasValue(1);
        }
    }

    @Test
    void shouldClassifyFromTheCache() {
        test.model("m", CACHED);
        open();
        for (int i = 0; i < 2; i++) {
            InferenceRequest request = request("m", 1, 3);
            request.addOutput(new RequestedOutput("OUT", Optional.empty(), 1));
            try (InferenceResponse response = test.server().infer(request)) {
                assertThat(response.outputs().getFirst().tensor().spec().datatype())
                        .isEqualTo(Datatype.BYTES);
            }
        }
        assertThat(ask(request("m", 1, 3))).as("not the classes").containsExactly(0, 1, 2);
        assertThat(runs).hasValue(1);
    }

    @Test
    void shouldRememberNoFailure() {
        test.model("m", CACHED);
        test.open(
                execution -> {
                    if (runs.incrementAndGet() == 1) {
                        throw GatunException.invalidArgument("not the first time");
                    }
                    ScriptedBackend.copy(execution);
                },
                options -> options.responseCacheByteSize(1 << 20));
        InferenceRequest first = request("m", 1, 3);
        assertThatThrownBy(() -> test.server().infer(first)).hasMessage("not the first time");
        assertThat(ask(request("m", 1, 3))).containsExactly(0, 1, 2);
        InferenceRequest wrong = test.input(request("m", 1, 3), "X", 1);
        assertThatThrownBy(() -> test.server().infer(wrong)).hasMessageContaining("expected 1 inputs but got 2");
        assertThat(test.server().statistics("m", "").getFirst().failureCount()).isEqualTo(2);
    }

    @Test
    void shouldRememberTheAnswersOfEnsemblesAndOfTheirMembers() {
        test.model("m", CACHED);
        test.model("e", """
                platform: "ensemble" max_batch_size: 4 response_cache { enable: true }
                input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
                output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
                ensemble_scheduling { step [ { model_name: "m" model_version: -1
                    input_map { key: "IN" value: "IN" } output_map { key: "OUT" value: "OUT" } } ] }
                """);
        open();
        ask(request("m", 1, 3));
        assertThat(ask(request("e", 1, 3))).containsExactly(0, 1, 2);
        assertThat(ask(request("e", 1, 3))).containsExactly(0, 1, 2);
        assertThat(runs).hasValue(1);
    }
}
