// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.Latencies;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelLatencies.StageLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.Origin;
import gatun.runtime.ResponseStatistics;
import gatun.runtime.VersionCounters;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StatisticsTest {
    private static final String UNBATCHED = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            """;
    private static final String BATCHED = UNBATCHED + "max_batch_size: 8";

    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    void shouldCountWhatWasDone() {
        test.model("m", BATCHED).open(ScriptedBackend::copy);
        inferBatches(3, 3, 3, 3, 3);
        ModelStatistics statistics = only();
        assertThat(statistics.successCount()).isEqualTo(5);
        assertThat(statistics.totals().inferenceCount()).isEqualTo(15);
        assertThat(statistics.executionCount()).isEqualTo(5);
        assertThat(statistics.totals().nanos().request())
                .isPositive()
                .isEqualTo(statistics.totals().nanos().queue()
                        + statistics.totals().nanos().computeInput()
                        + statistics.totals().nanos().computeInfer()
                        + statistics.totals().nanos().computeOutput());
        assertThat(statistics.totals().loadNanos()).isPositive();
    }

    @Test
    void shouldCountEachBatchSizeByItself() {
        test.model("m", BATCHED + " instance_group [ { count: 2 } ]").open(ScriptedBackend::copy);
        inferBatches(4, 1, 8, 4, 4, 1);
        ModelStatistics statistics = only();
        assertThat(statistics.batches()).extracting(BatchStatistics::batchSize).containsExactly(1, 4, 8);
        assertThat(statistics.batches())
                .extracting(BatchStatistics::executionCount)
                .containsExactly(2L, 3L, 1L);
        assertThat(statistics.totals().inferenceCount()).isEqualTo(2 + 3 * 4 + 8);
    }

    @Test
    void shouldCountAModelWithoutBatchesAsBatchesOfOne() {
        test.model("m", UNBATCHED).open(ScriptedBackend::copy);
        test.server().infer(test.input(test.request("m"), "IN", 5)).close();
        assertThat(only().batches()).extracting(BatchStatistics::batchSize).containsExactly(1);
        assertThat(only().totals().inferenceCount()).isEqualTo(1);
    }

    @Test
    void shouldTellWhenTheLatestExecutionEnded() {
        test.model("m", BATCHED).open(ScriptedBackend::copy);
        assertThat(only().totals().lastInferenceMillis()).as("none yet").isZero();

        long before = Instant.now().toEpochMilli();
        inferBatches(1);
        long after = Instant.now().toEpochMilli();

        long told = only().totals().lastInferenceMillis();
        // Both clocks are read to the millisecond, when the model is loaded and here.
        assertThat(told).isBetween(before - 2, after + 2);
        assertThat(only().totals().lastInferenceMillis()).isEqualTo(told);
    }

    @Test
    void shouldCountTheTimeThatFailuresTook() {
        test.model("m", BATCHED).open(execution -> {
            throw GatunException.invalidArgument("no");
        });
        assertThatThrownBy(() -> inferBatches(1)).isInstanceOf(GatunException.class);
        ModelStatistics statistics = only();
        assertThat(statistics.failureCount()).isEqualTo(1);
        assertThat(statistics.totals().failures().nanos()).isPositive();
        assertThat(statistics.totals().nanos().request()).isZero();
        assertThat(statistics.totals().lastInferenceMillis()).isZero();
    }

    @Test
    void shouldTellOnlyWhatWasAskedFor() {
        test.model("m", BATCHED);
        test.model("n", BATCHED).open(ScriptedBackend::copy);
        assertThat(test.server().statistics("", "")).hasSize(2);
        assertThat(test.server().statistics("n", ""))
                .extracting(ModelStatistics::name)
                .containsExactly("n");
        assertThat(test.server().statistics("n", "1")).hasSize(1);
        assertThat(test.server().statistics("n", "01abc")).hasSize(1);
        assertRefused(
                "x",
                "abc",
                "failed to get model version from specified version string 'abc' (details: stol), version should be"
                        + " an integral"
                        + " value > 0");
        assertRefused("n", "-2", "invalid model version specified '-2' , version should be an integral value > 0");
        assertRefused("x", "", "requested model 'x' is not available");
        assertRefused("n", "7", "requested model version is not available for model 'n'");
    }

    private void assertRefused(String name, String version, String text) {
        assertThatThrownBy(() -> test.server().statistics(name, version))
                .hasMessage(text)
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
    }

    @Test
    void shouldTellTheBucketsThatTheConfigurationNamesForAMetric() {
        test.model("m", BATCHED + """
                 model_metrics { metric_control { metric_identifier { family: "some_histogram" }
                  histogram_options { buckets: [ 8, 1, 8, 2.5 ] } } }
                """).open(ScriptedBackend::copy);

        assertThat(test.server().latencies().getFirst().bucketBounds())
                .containsExactly(Map.entry("some_histogram", List.of(1d, 2.5, 8d)));
    }

    @Test
    void shouldTellTheLatenciesOfEachOriginByStage() {
        test.model("m", BATCHED + " instance_group [ { count: 2 } ]").open(ScriptedBackend::copy);
        inferBatches(1, 2);
        for (int i = 0; i < 3; i++) {
            InferenceRequest request = test.input(test.request("m"), "IN", 1, 2);
            request.origin(new Origin(1, "v2", "grpc"));
            test.server().infer(request).close();
        }
        ModelLatencies latencies = test.server().latencies().getFirst();
        assertThat(latencies.name()).isEqualTo("m");
        assertThat(latencies.byOrigin()).containsOnlyKeys(Origin.EMBEDDED, new Origin(1, "v2", "grpc"));
        StageLatencies overGrpc = latencies.byOrigin().get(new Origin(1, "v2", "grpc"));
        for (Latencies stage : List.of(
                Objects.requireNonNull(overGrpc).request(),
                overGrpc.queue(),
                overGrpc.computeInput(),
                overGrpc.computeInfer(),
                overGrpc.computeOutput())) {
            assertThat(stage.count()).isEqualTo(3);
        }
        assertThat(overGrpc.firstResponse().count()).isZero();
        assertThat(overGrpc.request().sumNanos())
                .isEqualTo(overGrpc.queue().sumNanos()
                        + overGrpc.computeInput().sumNanos()
                        + overGrpc.computeInfer().sumNanos()
                        + overGrpc.computeOutput().sumNanos());
        ModelStatistics statistics = only();
        assertThat(latencies.total().request().count()).isEqualTo(statistics.successCount());
        assertThat(latencies.total().request().sumNanos())
                .isEqualTo(statistics.totals().nanos().request());
        assertThat(latencies.total().computeInfer().sumNanos())
                .isEqualTo(statistics.totals().nanos().computeInfer());
    }

    @Test
    void shouldCountTheResponsesOfADecoupledModelByTheirPlace() {
        AtomicInteger runs = new AtomicInteger();
        test.model("m", BATCHED + " model_transaction_policy { decoupled: true }")
                .open(execution -> {
                    int run = runs.incrementAndGet();
                    for (int i = 0; i < run; i++) {
                        ScriptedBackend.copy(execution);
                        execution.send();
                    }
                    if (run == 3) {
                        throw GatunException.invalidArgument("enough");
                    }
                });
        for (int i = 0; i < 2; i++) {
            test.server().infer(test.input(test.request("m"), "IN", 1, 2), (response, last) -> response.close());
        }
        assertThatThrownBy(() -> test.server()
                        .infer(test.input(test.request("m"), "IN", 1, 2), (response, last) -> response.close()))
                .hasMessage("enough");
        List<ResponseStatistics> responses = only().responses();
        assertThat(responses).extracting(response -> response.success().count()).containsExactly(3L, 2L, 1L, 0L);
        assertThat(responses).extracting(response -> response.empty().count()).containsExactly(0L, 1L, 1L, 0L);
        assertThat(responses).extracting(response -> response.fail().count()).containsExactly(0L, 0L, 0L, 1L);
        assertThat(responses.getFirst().success().nanos()).isPositive();
        assertThat(responses.get(3).fail().nanos()).isPositive();
        assertThat(responses)
                .extracting(response -> response.computeInfer().count())
                .containsExactly(3L, 3L, 2L, 1L);
        assertThat(responses)
                .extracting(response -> response.computeOutput().count())
                .containsExactly(3L, 2L, 1L, 0L);
        Latencies first = test.server().latencies().getFirst().total().firstResponse();
        assertThat(first.count()).as("of answered requests").isEqualTo(2);
    }

    @Test
    void shouldTellByOneNumberThatARequestWasAnsweredOrHasFailed() {
        AtomicInteger runs = new AtomicInteger();
        test.model("m", BATCHED).open(execution -> {
            if (runs.incrementAndGet() == 2) {
                throw GatunException.invalidArgument("no");
            }
            ScriptedBackend.copy(execution);
        });
        VersionCounters counters = counters();
        long atFirst = counters.activity();
        assertThat(counters.isBusy()).isFalse();
        assertThat(counters.instanceCount()).isEqualTo(1);

        inferBatches(1);
        long answered = counters.activity();
        assertThatThrownBy(() -> inferBatches(1)).isInstanceOf(GatunException.class);
        long failed = counters.activity();

        assertThat(answered).isGreaterThan(atFirst);
        assertThat(failed).isGreaterThan(answered);
        assertThat(counters()).as("as long as it is not loaded anew").isSameAs(counters);
        assertThat(counters.activity()).isEqualTo(failed);
        assertThat(counters.statistics().successCount()).isEqualTo(1);
    }

    private VersionCounters counters() {
        List<VersionCounters> found = new ArrayList<>();
        test.server().forEachReady((model, version, counters) -> {
            assertThat(model.name()).isEqualTo("m");
            assertThat(version).isEqualTo("1");
            found.add(counters);
        });
        assertThat(found).hasSize(1);
        return found.getFirst();
    }

    private void inferBatches(int... sizes) {
        for (int size : sizes) {
            test.server().infer(test.input(test.request("m"), "IN", size, 2)).close();
        }
    }

    private ModelStatistics only() {
        return test.server().statistics().getFirst();
    }
}
