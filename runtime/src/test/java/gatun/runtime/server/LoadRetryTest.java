// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Loads that fail and are tried again. */
@Timeout(60)
class LoadRetryTest {
    private static final String MODEL = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            """;

    @TempDir
    Path repository;

    private final AtomicInteger loads = new AtomicInteger();

    /**
     * The state of a model whose engine fails {@code failing} loads, when each is tried again {@code retries} times.
     */
    private ModelStatus loaded(int failing, int retries) {
        try (TestServer test = new TestServer(repository).model("m", MODEL)) {
            test.open(ScriptedBackend::copy, options -> options.models(
                            ChangedSettings.loadRetries(retries, Duration.ZERO))
                    .controlMode(ControlMode.EXPLICIT)
                    .onlyModels(List.of()));
            test.backend.beforeLoad = () -> {
                if (loads.incrementAndGet() <= failing) {
                    throw GatunException.invalidArgument("load " + loads.get() + " fails");
                }
            };
            try {
                test.server().load("m", ModelOverride.NONE);
            } catch (GatunException e) {
                assertThat(e).hasMessageContaining("load failed for model 'm'");
            }
            return test.server().index().getFirst();
        }
    }

    @Test
    void shouldServeAModelThatLoadsTheSecondTime() {
        assertThat(loaded(1, 1).state()).isEqualTo(ModelState.READY);
        assertThat(loads).hasValue(2);
    }

    @Test
    void shouldTellTheLastFailureWhenAllTriesAreUsedUp() {
        ModelStatus status = loaded(5, 2);
        assertThat(status.state()).isEqualTo(ModelState.UNAVAILABLE);
        assertThat(status.reason()).isEqualTo("load 3 fails");
        assertThat(loads).hasValue(3);
    }

    @Test
    void shouldNotWaitForTheNextTryWhenTheServerStops() throws InterruptedException {
        TestServer test = new TestServer(repository).model("m", MODEL);
        test.open(ScriptedBackend::copy, options -> options.models(ChangedSettings.loadRetries(1, Duration.ofHours(1)))
                .controlMode(ControlMode.EXPLICIT)
                .onlyModels(List.of()));
        CountDownLatch tried = new CountDownLatch(1);
        test.backend.beforeLoad = () -> {
            loads.incrementAndGet();
            tried.countDown();
            throw GatunException.invalidArgument("broken");
        };
        CompletableFuture<Void> loading =
                CompletableFuture.runAsync(() -> test.server().load("m", ModelOverride.NONE));
        assertThat(tried.await(30, TimeUnit.SECONDS)).isTrue();
        test.close();
        assertThat(loading)
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableThat()
                .withCauseInstanceOf(GatunException.class);
        assertThat(loads).hasValue(1);
    }

    @Test
    void shouldTryOnceUnlessToldOtherwise() {
        assertThat(loaded(1, 0).reason()).isEqualTo("load 1 fails");
        assertThat(loads).hasValue(1);
    }

    @Test
    void shouldNotLoadAgainWhatSucceeds() {
        assertThat(loaded(0, 3).state()).isEqualTo(ModelState.READY);
        assertThat(loads).hasValue(1);
    }
}
