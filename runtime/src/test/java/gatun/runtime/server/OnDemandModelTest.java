// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelMemoryUse;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.spi.Execution;
import gatun.testing.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models that are loaded by the requests that need them, and make room for each other. */
@Timeout(60)
class OnDemandModelTest {
    private static final String MODEL = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            instance_group [ { count: 1 kind: KIND_CPU } ]
            """;

    private static final int BYTE_SIZE = 100;

    @TempDir
    Path repository;

    private final AtomicInteger loads = new AtomicInteger();

    /** A server with a model of 100 bytes for each name, and room for two of them. */
    private TestServer open(Consumer<Execution> script, String... names) {
        TestServer test = new TestServer(repository);
        for (String name : names) {
            test.model(name, name.equals("steps") ? MODEL + "sequence_batching { }" : MODEL)
                    .file(name + "/1/weights", "w".repeat(BYTE_SIZE));
        }
        test.open(script, options -> options.models(ChangedSettings.modelMemory(2 * BYTE_SIZE)));
        test.backend.beforeLoad = loads::incrementAndGet;
        return test;
    }

    private static void infer(TestServer test, String model) {
        InferenceRequest request = test.input(test.request(model), "IN", 1);
        test.server().infer(request).close();
    }

    private static ModelMemoryUse use(TestServer test) {
        return test.server().modelMemory().orElseThrow();
    }

    private static ModelStatus status(TestServer test, String model) {
        return test.server().index().stream()
                .filter(status -> status.name().equals(model))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldLoadAModelByItsFirstRequest() {
        try (TestServer test = open(ScriptedBackend::copy, "a", "b")) {
            assertThat(test.backend.open).hasValue(0);
            assertThat(status(test, "a").state()).isEqualTo(ModelState.READY);
            assertThat(test.server().ready()).isTrue();
            infer(test, "a");
            assertThat(test.backend.open).as("the model and its instance").hasValue(2);
            assertThat(use(test)).isEqualTo(new ModelMemoryUse(200, 100, 1, 1, 0));
            infer(test, "a");
            assertThat(loads).hasValue(1);
        }
    }

    @Test
    void shouldLoadAModelThatIsAskedForItsTensors() {
        try (TestServer test = open(ScriptedBackend::copy, "a")) {
            assertThat(test.server().model("a", "").inputs()).hasSize(1);
            assertThat(loads).hasValue(1);
        }
    }

    @Test
    void shouldCloseTheModelThatWasNotUsedForTheLongestTime() {
        try (TestServer test = open(ScriptedBackend::copy, "a", "b", "c")) {
            infer(test, "a");
            infer(test, "b");
            infer(test, "a");
            infer(test, "c");
            assertThat(use(test)).isEqualTo(new ModelMemoryUse(200, 200, 2, 3, 1));
            infer(test, "a");
            assertThat(use(test).loadCount()).as("it had stayed").isEqualTo(3);
            infer(test, "b");
            assertThat(use(test)).isEqualTo(new ModelMemoryUse(200, 200, 2, 4, 2));
            assertThat(test.backend.open).hasValue(4);
        }
    }

    @Test
    void shouldGoOnCountingWhenItComesBack() {
        try (TestServer test = open(ScriptedBackend::copy, "a", "b", "c")) {
            for (String model : List.of("a", "b", "c", "a")) {
                infer(test, model);
            }
            assertThat(use(test).evictionCount()).isEqualTo(2);
            assertThat(test.server().statistics("a", "").getFirst().successCount())
                    .isEqualTo(2);
        }
    }

    @Test
    void shouldWaitForRoomUntilRequestsHaveEnded() throws Exception {
        CountDownLatch running = new CountDownLatch(2);
        CountDownLatch end = new CountDownLatch(1);
        Consumer<Execution> script = execution -> {
            running.countDown();
            await(end);
            ScriptedBackend.copy(execution);
        };
        try (TestServer test = open(script, "a", "b", "c")) {
            List<CompletableFuture<Void>> requests = new ArrayList<>();
            for (String model : List.of("a", "b")) {
                requests.add(CompletableFuture.runAsync(() -> infer(test, model)));
            }
            await(running);
            requests.add(CompletableFuture.runAsync(
                    () -> infer(test, "c"), task -> Thread.ofVirtual().start(task)));
            assertThat(use(test).loadCount()).isEqualTo(2);
            end.countDown();
            for (CompletableFuture<Void> request : requests) {
                request.get(30, TimeUnit.SECONDS);
            }
            assertThat(use(test)).isEqualTo(new ModelMemoryUse(200, 200, 2, 3, 1));
        }
    }

    @Test
    void shouldKnowAModelThatCameBackBeforeItsOwnEnd() throws Exception {
        CountDownLatch closing = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        try (TestServer test = open(ScriptedBackend::copy, "a", "b", "c")) {
            infer(test, "a");
            infer(test, "b");
            test.backend.beforeClose = () -> {
                test.backend.beforeClose = () -> {};
                closing.countDown();
                await(end);
            };
            CompletableFuture<Void> evicting = CompletableFuture.runAsync(() -> infer(test, "c"));
            await(closing);
            infer(test, "a");
            end.countDown();
            evicting.get(30, TimeUnit.SECONDS);
            assertThat(use(test)).isEqualTo(new ModelMemoryUse(200, 200, 2, 4, 2));
            infer(test, "c");
            infer(test, "b");
            assertThat(use(test)).as("a makes room").isEqualTo(new ModelMemoryUse(200, 200, 2, 5, 3));
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldLoadOnceForAllWhoAsk() throws Exception {
        try (TestServer test = open(ScriptedBackend::copy, "a")) {
            List<Future<?>> requests = new ArrayList<>();
            try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; i < 20; i++) {
                    requests.add(clients.submit(() -> infer(test, "a")));
                }
            }
            for (Future<?> request : requests) {
                request.get();
            }
            assertThat(loads).hasValue(1);
            assertThat(test.server().statistics("a", "").getFirst().successCount())
                    .isEqualTo(20);
        }
    }

    @Test
    void shouldTellWhyAModelCannotBeLoadedAndTryNoMore() {
        try (TestServer test = open(ScriptedBackend::copy, "a", "b")) {
            test.backend.beforeLoad = () -> {
                loads.incrementAndGet();
                throw GatunException.invalidArgument("broken");
            };
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> infer(test, "a"))
                        .isInstanceOf(GatunException.class)
                        .hasMessageContaining("'a'");
            }
            assertThat(loads).hasValue(1);
            assertThat(status(test, "a").state()).isEqualTo(ModelState.UNAVAILABLE);
            assertThat(status(test, "a").reason()).isEqualTo("broken");
            assertThat(test.server().ready()).as("others are served").isTrue();
            assertThat(use(test).usedByteSize()).isZero();
            test.backend.beforeLoad = () -> {};
            infer(test, "b");
        }
    }

    @Test
    void shouldRefuseAModelThatIsLargerThanTheMemory() {
        try (TestServer test = new TestServer(repository).model("big", MODEL)) {
            test.file("big/1/weights", "w".repeat(BYTE_SIZE))
                    .open(ScriptedBackend::copy, options -> options.models(ChangedSettings.modelMemory(BYTE_SIZE - 1)));
            assertThat(status(test, "big").reason())
                    .startsWith("its files have 100 bytes, and all models together may take 99; raise ");
        }
    }

    @Test
    void shouldKeepAModelThatHasSequences() {
        try (TestServer test = open(ScriptedBackend::copy, "steps", "a", "b")) {
            InferenceRequest step = test.input(test.request("steps"), "IN", 1);
            step.correlationId(1);
            step.sequenceStart(true);
            test.server().infer(step).close();
            infer(test, "a");
            infer(test, "b");
            assertThat(use(test))
                    .as("the model with a sequence stays")
                    .isEqualTo(new ModelMemoryUse(200, 200, 2, 3, 1));
            InferenceRequest next = test.input(test.request("steps"), "IN", 1);
            next.correlationId(1);
            next.sequenceEnd(true);
            test.server().infer(next).close();
        }
    }

    @Test
    void shouldTellWhoLoadsAModelByNameThatItCannotBeLoaded() {
        try (TestServer test = new TestServer(repository).model("a", MODEL)) {
            test.open(ScriptedBackend::copy, options -> options.models(ChangedSettings.modelMemory(BYTE_SIZE))
                    .controlMode(ControlMode.EXPLICIT)
                    .onlyModels(List.of()));
            test.backend.beforeLoad = () -> {
                throw GatunException.invalidArgument("broken");
            };
            assertThatThrownBy(() -> test.server().load("a", ModelOverride.NONE))
                    .hasMessageContaining("broken")
                    .extracting(failure -> ((GatunException) failure).code())
                    .isEqualTo(ErrorCode.INVALID_ARGUMENT);
            test.backend.beforeLoad = loads::incrementAndGet;
            test.server().load("a", ModelOverride.NONE);
            assertThat(loads).hasValue(1);
            infer(test, "a");
            assertThat(loads).hasValue(1);
        }
    }

    @Test
    void shouldAnswerEveryRequestWhileModelsComeAndGo() throws Exception {
        TestServer test = open(ScriptedBackend::copy, "a", "b", "c", "d", "e");
        List<Future<?>> clients = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int client = 0; client < 4; client++) {
                int first = client;
                clients.add(threads.submit(() -> {
                    for (int i = 0; i < 200; i++) {
                        infer(test, String.valueOf((char) ('a' + (first + i) % 5)));
                    }
                }));
            }
        }
        for (Future<?> client : clients) {
            client.get();
        }
        assertThat(use(test).usedByteSize()).isLessThanOrEqualTo(2 * BYTE_SIZE);
        assertThat(test.server().statistics("", "").stream()
                        .mapToLong(model -> model.successCount())
                        .sum())
                .isEqualTo(800);
        test.close();
        assertThat(test.backend.open).as("nothing is left open").hasValue(0);
        assertThat(use(test).modelCount()).isZero();
    }

    @Test
    void shouldUnloadAModelThatIsInMemory() throws Exception {
        try (TestServer test = new TestServer(repository).model("a", MODEL)) {
            test.file("a/1/weights", "w")
                    .open(ScriptedBackend::copy, options -> options.models(ChangedSettings.modelMemory(BYTE_SIZE))
                            .controlMode(ControlMode.EXPLICIT)
                            .onlyModels(List.of("a")));
            infer(test, "a");
            test.server().unload("a", false);
            Await.until("its end", () -> use(test).modelCount() == 0);
            assertThat(test.backend.open).hasValue(0);
        }
    }
}
