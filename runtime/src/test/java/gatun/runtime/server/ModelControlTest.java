// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.Subscription;
import gatun.testing.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Loading and unloading by name. */
@Timeout(60)
class ModelControlTest extends ExplicitControl {
    private static final String TEN_INSTANCES = "instance_group [ { count: 10 } ]";

    /** Makes a file of a model's version longer, so that the model counts as changed. */
    private void touch(String model) throws IOException {
        Files.writeString(repository.resolve(model).resolve("1").resolve("weights"), "1", CREATE, APPEND);
    }

    @Test
    void shouldLoadAndUnloadByName() {
        test.model("a", MODEL).model("b", MODEL, 1, 2);
        open();
        assertThat(index()).containsExactly("a  UNKNOWN", "b  UNKNOWN");
        assertThat(test.server().ready()).isTrue();

        load("b");
        assertThat(index()).containsExactly("a  UNKNOWN", "b 2 READY");
        infer("b");

        test.server().unload("b", false);
        assertThatThrownBy(() -> test.server().model("b", "2"))
                .hasMessage("Request for unknown model: 'b' version 2 is not at ready state");
        Await.until("it is gone", () -> index().contains("b 2 UNAVAILABLE unloaded"));
        assertThat(test.server().ready()).as("unloading was wanted").isTrue();
        assertThat(test.backend.open).hasValue(0);
        assertThatCode(() -> test.server().unload("nobody", true)).doesNotThrowAnyException();

        load("b");
        assertThat(index()).containsExactly("a  UNKNOWN", "b 2 READY");
    }

    @ParameterizedTest
    @EnumSource(
            value = ControlMode.class,
            names = {"NONE", "POLL"})
    void shouldRefuseWhereTheRepositoryDecides(ControlMode mode) {
        test.model("a", MODEL).open(ScriptedBackend::copy, options -> options.controlMode(mode));
        String text = "explicit model load / unload is not allowed if polling is enabled";
        assertThatThrownBy(() -> load("a"))
                .hasMessageStartingWith(text)
                .hasMessageContaining("model-control-mode=explicit")
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
        assertThatThrownBy(() -> test.server().unload("a", false)).hasMessageStartingWith(text);
        infer("a");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ''      | INVALID_ARGUMENT | Model name cannot be empty. Please enter a valid name to deploy.
                    ../x    | INVALID_ARGUMENT | invalid model name '../x', model name must not contain path traversal characters
                    ' ..'   | INVALID_ARGUMENT | invalid model name ' ..', model name must not contain path traversal characters
                    absent  | INTERNAL         | failed to load 'absent', failed to poll from model repository; there is no folder 'absent' in it, but broken, empty, half, later, named
                    broken  | INTERNAL         | failed to load 'broken', failed to poll from model repository
                    named   | INTERNAL         | failed to load 'named', failed to poll from model repository
                    empty   | INVALID_ARGUMENT | failed to load 'empty', no version is available
                    later   | INVALID_ARGUMENT | failed to load 'later', no version is available: the policy asks for 2 and 3; there is 1
                    half    | INVALID_ARGUMENT | load failed for model 'half': version 1 is at UNAVAILABLE state: Invalid argument: the tenth instance never starts;
                    """)
    void shouldSayWhyAModelCannotBeLoaded(String name, ErrorCode code, String text) {
        test.model("broken", "nonsense")
                .model("named", "name: \"other\"\n" + MODEL)
                .model("empty", MODEL, new long[0])
                .model("half", MODEL + TEN_INSTANCES)
                .model("later", MODEL + "version_policy { specific { versions: [2, 3] } }");
        open();
        assertThatThrownBy(() -> load(name == null ? "" : name))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageStartingWith(text);
    }

    @Test
    void shouldShowTheReasonInTheIndexAndForgetItWhenTheModelIsMended() {
        test.model("m", "nonsense");
        open();
        assertThatThrownBy(() -> load("m")).isInstanceOf(GatunException.class);
        assertThat(index()).singleElement().asString().startsWith("m  UNAVAILABLE config.pbtxt:1");
        assertThat(test.server().ready())
                .as("for all others, whatever somebody wants to load")
                .isTrue();
        test.model("m", MODEL);
        load("m");
        assertThat(index()).containsExactly("m 1 READY");
        assertThat(test.server().ready()).isTrue();
    }

    @Test
    void shouldDoNothingWhenNothingHasChanged() throws IOException {
        test.model("m", MODEL);
        open("m");
        ModelVersion first = test.server().model("m", "");
        load("m");
        assertThat(test.server().model("m", "")).isSameAs(first);
        touch("m");
        load("m");
        assertThat(test.server().model("m", "")).isNotSameAs(first);
    }

    @Test
    void shouldKeepTheOldVersionsWhenTheNewOnesFail() throws IOException {
        test.model("m", MODEL + "version_policy { all { } }", 1, 2);
        open("m");
        ModelVersion old = test.server().model("m", "");
        test.model("m", MODEL + "version_policy { all { } }" + TEN_INSTANCES, 1, 2);
        touch("m");
        assertThatThrownBy(() -> load("m"))
                .hasMessage("load failed for model 'm': version 1 is at UNAVAILABLE state: Invalid argument: the tenth"
                        + " instance never starts;\nversion 2 is at UNAVAILABLE state: Invalid argument: the tenth"
                        + " instance never starts;\n");
        assertThat(test.server().model("m", "")).isSameAs(old);
        assertThat(index())
                .containsExactly(
                        "m 1 READY the tenth instance never starts", "m 2 READY the tenth instance never starts");
        assertThat(test.server().ready()).isTrue();
        infer("m");

        Files.writeString(repository.resolve("m/config.pbtxt"), "nonsense");
        assertThatThrownBy(() -> load("m"))
                .hasMessageStartingWith("failed to load 'm', failed to poll from model repository: config.pbtxt:1");
        assertThat(index().getFirst()).startsWith("m 1 READY config.pbtxt:1");
        infer("m");
    }

    @Test
    void shouldNotInterruptAnybodyByReloads() throws Exception {
        test.model("m", MODEL);
        open("m");
        AtomicBoolean end = new AtomicBoolean();
        AtomicInteger answered = new AtomicInteger();
        List<Future<?>> clients = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int client = 0; client < 8; client++) {
                String version = client % 2 == 0 ? "" : "1";
                clients.add(threads.submit(() -> {
                    while (!end.get()) {
                        InferenceRequest request =
                                new InferenceRequest(test.server().model("m", version));
                        request.anyVersion(version.isEmpty());
                        // Others get a chance to replace the version between look-up and request.
                        Thread.onSpinWait();
                        test.server().infer(test.input(request, "IN", 1)).close();
                        answered.incrementAndGet();
                    }
                }));
            }
            for (int i = 0; i < 50; i++) {
                int before = answered.get();
                touch("m");
                load("m");
                Await.until(
                        "clients are answered",
                        () -> answered.get() > before + 10 || clients.stream().anyMatch(Future::isDone));
            }
            end.set(true);
        }
        for (Future<?> client : clients) {
            client.get(1, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldFinishRunningRequestsBeforeAVersionGoes() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        test.model("m", MODEL).model("other", MODEL);
        test.open(
                execution -> {
                    entered.countDown();
                    try {
                        assertThat(leave.await(30, TimeUnit.SECONDS)).isTrue();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    ScriptedBackend.copy(execution);
                },
                options -> options.controlMode(ControlMode.EXPLICIT));
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> running = threads.submit(() -> infer("m"));
            assertThat(entered.await(20, TimeUnit.SECONDS)).isTrue();
            test.server().unload("m", false);
            assertThat(index()).contains("m 1 UNLOADING");
            load("m");
            assertThat(index()).contains("m 1 READY");
            test.server().unload("other", false);
            leave.countDown();
            running.get(20, TimeUnit.SECONDS);
        }
        Await.until("the old version is gone", () -> test.backend.open.get() == 2);
        assertThat(index()).contains("m 1 READY");
    }

    @Test
    void shouldTakeTheNamedConfigurationWhereThereIsOne() throws IOException {
        test.model("m", MODEL).model("other", MODEL);
        Files.createDirectories(repository.resolve("m/configs"));
        Files.writeString(repository.resolve("m/configs/big.pbtxt"), MODEL + "max_batch_size: 8");
        test.open(ScriptedBackend::copy, options -> options.models(ChangedSettings.configName("big")));
        assertThat(test.server().model("m", "").config().getMaxBatchSize()).isEqualTo(8);
        assertThat(test.server().model("other", "").config().getMaxBatchSize()).isZero();
    }

    @Test
    void shouldTellOfWhatServesWhenTheRepositoryIsGone() throws IOException {
        Path second = Files.createDirectories(repository.resolveSibling(repository.getFileName() + "-gone"));
        test.model("m", MODEL);
        test.open(ScriptedBackend::copy, options -> options.repository(second));
        Files.delete(second);
        assertThat(index()).containsExactly("m 1 READY");
        infer("m");
    }

    @Test
    void shouldTellOfEveryChange() {
        test.model("m", MODEL);
        open();
        AtomicInteger changes = new AtomicInteger();
        try (Subscription subscription = test.server().onChange(changes::incrementAndGet)) {
            assertThat(subscription).isNotNull();
            load("m");
            assertThat(changes.get()).as("loading, ready").isGreaterThanOrEqualTo(2);
            int before = changes.get();
            test.server().unload("m", false);
            Await.until("it is gone", () -> index().contains("m 1 UNAVAILABLE unloaded"));
            assertThat(changes.get()).isGreaterThan(before);
        }
        int last = changes.get();
        load("m");
        assertThat(changes).hasValue(last);
    }

    @Test
    void shouldServeAReadyModelWhileOthersLoad() throws Exception {
        CountDownLatch loading = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        test.model("ready", MODEL).model("slow", MODEL);
        open("ready");
        test.backend.beforeLoad = () -> {
            loading.countDown();
            try {
                assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> slow = threads.submit(() -> load("slow"));
            assertThat(loading.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(index()).containsExactly("ready 1 READY", "slow 1 LOADING");
            infer("ready");
            assertThatThrownBy(() -> test.server().model("slow", ""))
                    .hasMessage("Request for unknown model: 'slow' has no available versions");
            go.countDown();
            slow.get(20, TimeUnit.SECONDS);
        }
        infer("slow");
    }

    /** An ensemble that asks one model, and another for what the first made. */
    private static String chain(String first, String second) {
        return """
                platform: "ensemble"
                input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
                output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
                ensemble_scheduling { step [
                    { model_name: "%s" model_version: -1
                      input_map { key: "IN" value: "IN" } output_map { key: "OUT" value: "between" } },
                    { model_name: "%s" model_version: -1
                      input_map { key: "IN" value: "between" } output_map { key: "OUT" value: "OUT" } } ] }
                """.formatted(first, second);
    }

    @Test
    void shouldLoadAndUnloadAnEnsembleWithItsMembers() {
        test.model("asked", MODEL).model("named", MODEL).model("graph", chain("asked", "named"));
        open("named");
        load("graph");
        assertThat(index()).containsExactly("asked 1 READY", "graph 1 READY", "named 1 READY");
        infer("graph");

        test.server().unload("graph", false);
        Await.until("the ensemble is gone", () -> index().contains("graph 1 UNAVAILABLE unloaded"));
        assertThat(index()).contains("asked 1 READY", "named 1 READY");
        load("graph");

        test.server().unload("graph", true);
        Await.until("what only it asked is gone", () -> index().contains("asked 1 UNAVAILABLE unloaded"));
        assertThat(index()).contains("graph 1 UNAVAILABLE unloaded", "named 1 READY");

        load("graph");
        test.server().unload("asked", false);
        assertThat(index())
                .contains("graph 1 UNAVAILABLE ensemble 'graph' depends on 'asked' which has no loaded version.");
        load("asked");
        assertThat(index()).contains("graph 1 READY");
        test.server().unload("asked", true);
        Await.until("what asked it is gone too", () -> index().contains("asked 1 UNAVAILABLE unloaded"));
        assertThat(index()).contains("graph 1 UNAVAILABLE unloaded", "named 1 READY");
    }

    @Test
    void shouldBeReadyWhileEnsemblesRestWithAMemberThatWasUnloaded() {
        test.model("asked", MODEL).model("other", MODEL);
        test.model("inner", chain("asked", "other")).model("outer", chain("other", "inner"));
        open("outer");

        test.server().unload("asked", false);
        assertThat(index())
                .filteredOn(row -> row.contains("depends on"))
                .extracting(row -> row.substring(0, row.indexOf(' ')))
                .containsExactly("inner", "outer");
        assertThat(test.server().ready()).as("unloading was wanted").isTrue();

        test.model("asked", MODEL + "no_such_field: 1");
        assertThatThrownBy(() -> load("asked")).isInstanceOf(GatunException.class);
        assertThat(test.server().ready()).as("nobody knows what it would be").isTrue();
        test.model("asked", MODEL + TEN_INSTANCES);
        assertThatThrownBy(() -> load("asked")).isInstanceOf(GatunException.class);
        assertThat(test.server().ready()).as("loading was wanted, and failed").isFalse();
    }

    @Test
    void shouldNotLoadWhenItStops() {
        test.model("m", MODEL);
        open("m");
        test.server().close();
        assertThatThrownBy(() -> load("m"))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
                .hasMessage("Server exiting");
    }

    @Test
    void shouldFollowTheRepository() throws Exception {
        test.model("stays", MODEL).model("goes", MODEL);
        test.open(ScriptedBackend::copy, options -> options.controlMode(ControlMode.POLL)
                .pollInterval(Duration.ofMillis(20)));
        ModelVersion stays = test.server().model("stays", "");
        // A broken model keeps nobody from what follows.
        test.model("a_broken", "nonsense").model("comes", MODEL);
        Await.until("the new model is ready", () -> index().contains("comes 1 READY"));
        Await.until("the broken one tells why", () -> index().stream()
                .anyMatch(row -> row.startsWith("a_broken  UNAVAILABLE config.pbtxt:1")));
        test.model("comes", MODEL, 1, 2);
        Await.until("the new version is ready", () -> index().contains("comes 2 READY"));
        Await.until("the old version is gone", () -> index().contains("comes 1 UNAVAILABLE unloaded"));
        infer("comes");

        Files.delete(repository.resolve("goes/config.pbtxt"));
        Files.delete(repository.resolve("goes/1"));
        Files.delete(repository.resolve("goes"));
        Await.until("the model is gone", () -> index().stream().noneMatch(row -> row.startsWith("goes")));

        test.model("a_broken", MODEL);
        Await.until("the broken model is mended", () -> index().contains("a_broken 1 READY"));
        touch("stays");
        Await.until(
                "the changed model is loaded anew",
                () -> !test.server().model("stays", "").equals(stays));
    }

    @Test
    void shouldLeaveVersionsAloneThatDidNotChange() throws Exception {
        test.model("m", MODEL + "version_policy { latest { num_versions: 2 } }", 1, 2);
        test.open(ScriptedBackend::copy, options -> options.controlMode(ControlMode.POLL)
                .pollInterval(Duration.ofMillis(20)));
        ModelVersion second = test.server().model("m", "2");
        Files.createDirectories(repository.resolve("m/3"));
        Await.until("the new version is ready", () -> index().contains("m 3 READY"));
        Await.until("the oldest version is gone", () -> index().contains("m 1 UNAVAILABLE unloaded"));
        assertThat(test.server().model("m", "2")).isSameAs(second);
        Files.writeString(repository.resolve("m/2/model"), "changed");
        Await.until(
                "the changed version is loaded anew",
                () -> !test.server().model("m", "2").equals(second));
        assertThat(index()).containsExactly("m 1 UNAVAILABLE unloaded", "m 2 READY", "m 3 READY");
    }

    @Test
    void shouldUnloadAModelThatAppearsInASecondRepositoryUntilItIsInOneOnly() throws Exception {
        Path second = Files.createDirectories(repository.resolveSibling(repository.getFileName() + "-second"));
        test.model("m", MODEL);
        test.open(ScriptedBackend::copy, options -> options.controlMode(ControlMode.POLL)
                .pollInterval(Duration.ofMillis(20))
                .repository(second));
        Files.createDirectories(second.resolve("m"));
        Await.until("the index tells", () -> index().contains(
                        "m  UNAVAILABLE model 'm' appears in two or more repositories; remove all but one"));
        assertThat(test.server().ready())
                .as("which of the two it is, nobody knows")
                .isTrue();
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> infer("m"))
                .withMessage("Request for unknown model: 'm' has no available versions");
        Files.delete(second.resolve("m"));
        Await.until("it serves again", () -> index().contains("m 1 READY"));
        infer("m");
        Files.delete(second);
    }
}
