// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.backend.onnxruntime.RunOptions.TerminateFlag;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A stop of one run that meets the beginning of another. */
class TerminateFlagTest {
    private final AtomicBoolean engine = new AtomicBoolean();

    @Test
    void shouldClearAFlagThatWasSetWhileARunBegan() {
        AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});
        TerminateFlag flag = new TerminateFlag(
                () -> {
                    Objects.requireNonNull(meanwhile.get()).run();
                    engine.set(true);
                },
                () -> engine.set(false));
        meanwhile.set(flag::clear); // a run begins just before the engine is told
        flag.raise();
        flag.clear();
        assertThat(engine).as("the next run goes on").isFalse();
    }

    @Test
    void shouldClearAFlagThatWasSetWhileItWasCleared() {
        AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});
        TerminateFlag flag = new TerminateFlag(() -> engine.set(true), () -> {
            engine.set(false);
            meanwhile.getAndSet(() -> {}).run();
        });
        flag.raise();
        meanwhile.set(flag::raise);
        flag.clear();
        assertThat(engine).as("the second stop").isTrue();
        flag.clear();
        assertThat(engine).as("the next run goes on").isFalse();
    }
}
