// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ListedModels;
import gatun.runtime.ListedModels.ListedModel;
import gatun.wire.inference.ModelVersionPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A label of a listed model that a new list moves to another version. */
@Timeout(60)
class VersionLabelsTest {
    @TempDir
    Path directory;

    private Path listed;
    private TestServer test;

    @BeforeEach
    void open() throws IOException {
        listed = Files.createDirectories(directory.resolve("listed"));
        Files.createDirectories(listed.resolve("1"));
        Files.writeString(listed.resolve("config.pbtxt"), """
                backend: "scripted"
                input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
                output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
                """);
        test = new TestServer(Files.createDirectories(directory.resolve("repository")));
        test.open(ScriptedBackend::copy, options -> options.controlMode(ControlMode.POLL)
                .listed(List.of(model(1, Map.of("stable", 1L)))));
    }

    @AfterEach
    void close() {
        test.close();
    }

    private ListedModel model(long version, Map<String, Long> labels) {
        ModelVersionPolicy only = ModelVersionPolicy.newBuilder()
                .setSpecific(ModelVersionPolicy.Specific.newBuilder().addVersions(version))
                .build();
        return new ListedModel("m", listed, ListedModels.TENSORFLOW, only, labels);
    }

    private OptionalLong stable() {
        return test.server().labelled("m", "stable");
    }

    private CompletableFuture<Void> replace(ListedModel model) {
        return CompletableFuture.runAsync(() -> test.server().replaceListed(List.of(model)));
    }

    /** Has the next load wait; returns what it waits for. */
    private CountDownLatch holdLoad(CountDownLatch reached) {
        CountDownLatch released = new CountDownLatch(1);
        test.backend.beforeLoad = () -> {
            reached.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        return released;
    }

    @Test
    void shouldStandForTheOldVersionUntilTheNewOneServes() throws Exception {
        Files.createDirectories(listed.resolve("2"));
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch released = holdLoad(reached);

        CompletableFuture<Void> replaced = replace(model(2, Map.of("stable", 2L, "next", 2L)));
        reached.await();
        assertThat(stable()).hasValue(1);
        assertThat(test.server().model("m", "1").ready()).isTrue();

        released.countDown();
        replaced.join();
        assertThat(stable()).hasValue(2);
        assertThat(test.server().labelled("m", "next")).hasValue(2);
    }

    @Test
    void shouldStayWhereTheNewVersionFailsAndMoveWhenALaterLoadSucceeds() throws Exception {
        Files.createDirectories(listed.resolve("2"));
        test.backend.beforeLoad = () -> {
            throw GatunException.invalidArgument("the model is broken");
        };
        replace(model(2, Map.of("stable", 2L))).join();
        assertThat(stable()).hasValue(1);
        assertThat(test.server().model("m", "1").ready()).isTrue();

        test.backend.beforeLoad = () -> {};
        Files.writeString(listed.resolve("2").resolve("file"), "whole");
        replace(model(2, Map.of("stable", 2L))).join();
        assertThat(stable()).hasValue(2);
    }

    @Test
    void shouldNotGoBackOnceTheNewVersionHasServed() throws Exception {
        Files.createDirectories(listed.resolve("2"));
        replace(model(2, Map.of("stable", 2L))).join();

        replace(model(1, Map.of("stable", 2L))).join();

        assertThat(stable()).hasValue(2);
    }

    @Test
    void shouldForgetALabelThatTheListLeavesOut() throws Exception {
        replace(model(1, Map.of("stable", 9L))).join();
        assertThat(stable()).hasValue(1);

        replace(model(1, Map.of())).join();
        assertThat(stable()).isEmpty();

        replace(model(1, Map.of("stable", 9L))).join();
        assertThat(stable()).hasValue(9);
    }

    @Test
    void shouldServeARequestByLabelWhoseVersionIsReplacedBeforeItBegins() throws Exception {
        Files.createDirectories(listed.resolve("2"));
        InferenceRequest request = test.input(test.request("m"), "IN", 1);
        request.versionLabel("stable");
        assertThat(request.model().version()).isEqualTo(1);

        replace(model(2, Map.of("stable", 2L))).join();

        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(response.modelVersion()).isEqualTo("2");
        }
    }
}
