// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelVersion;
import gatun.runtime.ResourceAmount;
import gatun.spi.Execution;
import gatun.testing.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Configurations of which only {@code instance_group} changes while the model serves. */
@Timeout(60)
class InstanceAdjustmentTest {
    private static final String MODEL = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            """;

    private static final String SEQUENCES = """
            sequence_batching { max_sequence_idle_microseconds: 60000000 }
            """;

    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicInteger loads = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private Path folder;
    private long stamp;
    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path repository) {
        folder = repository;
        test = new TestServer(repository);
    }

    @AfterEach
    void close() {
        gate.countDown();
        clients.close();
        test.close();
        assertThat(test.backend.open).as("models and instances left open").hasValue(0);
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
    }

    private void open(String config, UnaryOperator<ServerOptions> options) {
        test.model("m", config);
        test.open(
                this::run,
                defaults ->
                        options.apply(defaults.controlMode(ControlMode.EXPLICIT).onlyModels(List.of("m"))));
        test.backend.beforeLoad = loads::incrementAndGet;
    }

    private void open(String config) {
        open(config, options -> options);
    }

    private void run(Execution execution) {
        running.incrementAndGet();
        try {
            assertThat(gate.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } finally {
            running.decrementAndGet();
        }
        ScriptedBackend.copy(execution);
    }

    /** Writes a configuration, with another time than any before. */
    private void write(String config) {
        test.model("m", config);
        stamp += 2000;
        try {
            Files.setLastModifiedTime(
                    folder.resolve("m/config.pbtxt"), FileTime.fromMillis(System.currentTimeMillis() + stamp));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void change(String config) {
        write(config);
        test.server().load("m", ModelOverride.NONE);
    }

    private static String instances(int count) {
        return "instance_group [ { count: " + count + " } ]\n";
    }

    private Future<?> infer() {
        return clients.submit(() ->
                test.server().infer(test.input(test.request("m"), "IN", 1)).close());
    }

    private Future<?> step(long sequence, boolean start, boolean end) {
        return clients.submit(() -> {
            InferenceRequest request = test.input(test.request("m"), "IN", 1);
            request.correlationId(sequence);
            request.sequenceStart(start);
            request.sequenceEnd(end);
            test.server().infer(request).close();
        });
    }

    private static void finish(Future<?> response) throws Exception {
        response.get(30, TimeUnit.SECONDS);
    }

    /** Waits until that many instances of the one model are open. */
    private void awaitInstances(int count) {
        Await.until(count + " instances are open", () -> test.backend.open.get() == 1 + count);
    }

    private String state() {
        ModelStatus row = test.server().index().getFirst();
        return row.state() + " " + row.reason();
    }

    @Test
    void shouldAddInstancesToTheModelThatServes() throws Exception {
        open(MODEL + instances(1));
        finish(infer());
        ModelVersion before = test.server().model("m", "");

        change(MODEL + instances(3));

        assertThat(test.server().model("m", "")).isSameAs(before);
        assertThat(before.config().getInstanceGroup(0).getCount()).isEqualTo(3);
        assertThat(loads).as("loads of the engine's model").hasValue(0);
        assertThat(test.backend.open).hasValue(1 + 3);
        assertThat(test.server().statistics().getFirst().successCount()).isEqualTo(1);
        gate = new CountDownLatch(1);
        List<Future<?>> responses = List.of(infer(), infer(), infer());
        Await.until("three run side by side", () -> running.get() == 3);
        gate.countDown();
        for (Future<?> response : responses) {
            finish(response);
        }
        assertThat(test.server().statistics().getFirst().successCount()).isEqualTo(4);
    }

    @Test
    void shouldLetTheSurplusFinishWhatItRuns() throws Exception {
        open(MODEL + instances(3));
        gate = new CountDownLatch(1);
        List<Future<?>> responses = List.of(infer(), infer(), infer());
        Await.until("all run", () -> running.get() == 3);

        change(MODEL + instances(1));
        assertThat(test.backend.open).as("none is closed while it runs").hasValue(1 + 3);
        Future<?> later = infer();
        gate.countDown();

        for (Future<?> response : responses) {
            finish(response);
        }
        finish(later);
        awaitInstances(1);
        assertThat(test.server().statistics().getFirst().successCount()).isEqualTo(4);
    }

    @Test
    void shouldKeepTheOldInstancesWhenANewOneFails() throws Exception {
        open(MODEL + instances(2));
        write(MODEL + instances(10));
        assertThatThrownBy(() -> test.server().load("m", ModelOverride.NONE))
                .hasMessage("load failed for model 'm': version 1 is at UNAVAILABLE state: Invalid argument: the tenth"
                        + " instance never starts;\n");
        assertThat(state()).isEqualTo("READY the tenth instance never starts");
        assertThat(test.backend.open).hasValue(1 + 2);
        assertThat(test.server().model("m", "").config().getInstanceGroup(0).getCount())
                .isEqualTo(2);
        finish(infer());

        change(MODEL + instances(4));
        assertThat(state()).isEqualTo("READY ");
        assertThat(test.backend.open).hasValue(1 + 4);
        assertThat(loads).hasValue(0);
    }

    @Test
    void shouldSayWhyAGroupOfAnotherKindCannotServe() throws Exception {
        open(MODEL + instances(2));
        write(MODEL + "instance_group [ { kind: KIND_GPU } ]");
        assertThatThrownBy(() -> test.server().load("m", ModelOverride.NONE))
                .hasMessageStartingWith("failed to load 'm', failed to poll from model repository: instance group")
                .hasMessageContaining("KIND_GPU");
        assertThat(state()).startsWith("READY ").contains("KIND_GPU");
        finish(infer());
        assertThat(test.backend.open).hasValue(1 + 2);
    }

    @Test
    void shouldLoadAnewWhereMoreHasChanged() throws Exception {
        open(MODEL + instances(1));
        ModelVersion before = test.server().model("m", "");
        change(MODEL + instances(2) + "parameters { key: \"k\" value { string_value: \"v\" } }");
        assertThat(test.server().model("m", "")).isNotSameAs(before);
        assertThat(loads).hasValue(1);
        test.file("m/1/model.bin", "new");
        change(MODEL + instances(3) + "parameters { key: \"k\" value { string_value: \"v\" } }");
        assertThat(loads).hasValue(2);
        awaitInstances(3);
    }

    @Test
    void shouldAdjustEachVersionAndGoBackAfterAnOverrideWhenFilesChange() {
        test.model("m", MODEL + "version_policy { all { } }" + instances(1), 1, 2);
        open(MODEL + "version_policy { all { } }" + instances(1));
        assertThat(test.backend.open).hasValue(2 * (1 + 1));
        test.server().load("m", new ModelOverride("""
                                {"backend": "scripted", "version_policy": {"all": {}},
                                 "input": [{"name": "IN", "data_type": "TYPE_FP32", "dims": [1]}],
                                 "output": [{"name": "OUT", "data_type": "TYPE_FP32", "dims": [1]}],
                                 "instance_group": [{"count": 3}]}""", Map.of()));
        assertThat(test.backend.open).hasValue(2 * (1 + 3));
        change(MODEL + "version_policy { all { } }" + instances(1) + "# changed");
        Await.until("the surplus is closed", () -> test.backend.open.get() == 2 * (1 + 1));
        assertThat(loads).hasValue(0);
    }

    @Test
    void shouldFollowTheRepositoryWhereThatDecides() {
        open(MODEL + instances(1), options -> options.controlMode(ControlMode.POLL)
                .pollInterval(Duration.ofMillis(20)));
        write(MODEL + instances(2));
        awaitInstances(2);
        write(MODEL + instances(1));
        awaitInstances(1);
        assertThat(loads).hasValue(0);
    }

    @Test
    void shouldReplaceInstancesWhoseResourcesChange() throws Exception {
        open(MODEL + limited(1), options -> options.models(
                        ChangedSettings.rateLimit(List.of(new ResourceAmount("R", 2, ResourceAmount.EVERY_DEVICE))))
                .controlMode(ControlMode.EXPLICIT)
                .onlyModels(List.of("m")));
        finish(infer());
        change(MODEL + limited(2));
        awaitInstances(2);
        gate = new CountDownLatch(1);
        List<Future<?>> responses = List.of(infer(), infer());
        Await.until("one runs", () -> running.get() == 1);
        gate.countDown();
        for (Future<?> response : responses) {
            finish(response);
        }
        write(MODEL + limited(3));
        assertThatThrownBy(() -> test.server().load("m", ModelOverride.NONE))
                .hasMessageContaining("Resource count for \"R\" is limited to 2");
        finish(infer());
        assertThat(loads).hasValue(0);
        awaitInstances(2);
    }

    private static String limited(int need) {
        return "instance_group [ { count: 2 rate_limiter { resources [ { name: \"R\" count: " + need + " } ] } } ]";
    }

    @Test
    void shouldKeepSequencesWhereTheyAre() throws Exception {
        open(MODEL + SEQUENCES + instances(2));
        finish(step(1, true, false));
        finish(step(2, true, false));

        change(MODEL + SEQUENCES + instances(1));
        awaitInstances(2);
        finish(step(1, false, false));
        finish(step(2, false, false));
        Future<?> third = step(3, true, true);
        finish(step(1, false, true));
        finish(step(2, false, true));
        finish(third);
        awaitInstances(1);

        change(MODEL + SEQUENCES + instances(4));
        awaitInstances(4);
        gate = new CountDownLatch(1);
        List<Future<?>> responses = List.of(step(4, true, true), step(5, true, true), step(6, true, true));
        Await.until("three run side by side", () -> running.get() == 3);
        gate.countDown();
        for (Future<?> response : responses) {
            finish(response);
        }
        assertThat(loads).hasValue(0);
    }

    @Test
    void shouldKeepSequencesWhereTheConfigurationHasAnotherTimeOnly() throws Exception {
        open(MODEL + SEQUENCES + instances(1));
        finish(step(1, true, false));
        ModelVersion before = test.server().model("m", "");

        change(MODEL + SEQUENCES + instances(1));

        assertThat(test.server().model("m", "")).isSameAs(before);
        finish(step(1, false, true));
        assertThat(loads).hasValue(0);
    }

    @Test
    void shouldGiveNewInstancesToSequencesThatWait() throws Exception {
        open(MODEL + SEQUENCES + instances(1));
        finish(step(1, true, false));
        Future<?> waiting = step(2, true, true);
        Await.until(
                "the second sequence waits",
                () -> test.server().statistics().getFirst().totals().pendingRequestCount() == 1);
        change(MODEL + SEQUENCES + instances(2));
        finish(waiting);
        finish(step(1, false, true));
    }

    @Test
    void shouldAnswerEveryRequestWhileInstancesComeAndGo() throws Exception {
        open(MODEL + instances(2));
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger answered = new AtomicInteger();
        List<Future<?>> loops = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            loops.add(clients.submit(() -> {
                while (!over.get()) {
                    test.server().infer(test.input(test.request("m"), "IN", 1)).close();
                    answered.incrementAndGet();
                }
            }));
        }
        for (int change = 0; change < 60; change++) {
            change(MODEL + instances(1 + change % 4));
        }
        int before = answered.get();
        Await.until("requests go on", () -> answered.get() > before + 100);
        over.set(true);
        for (Future<?> loop : loops) {
            finish(loop);
        }
        assertThat(loads).hasValue(0);
        awaitInstances(4);
        assertThat(test.server().statistics().getFirst().successCount()).isEqualTo(answered.get());
        assertThat(test.server().statistics().getFirst().failureCount()).isZero();
    }
}
