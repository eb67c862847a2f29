// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SupervisedThreadTest {
    /** A failure that cannot be logged. */
    private static final class Unprintable extends Error {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no text");
        }
    }

    @Test
    void shouldBeginAnewAfterAnyFailureAndEndByReturning() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        Thread thread = SupervisedThread.start("work", () -> {
            switch (attempts.incrementAndGet()) {
                case 1 -> {
                    Thread.currentThread().interrupt();
                    throw new Unprintable();
                }
                case 2 -> throw new StackOverflowError();
                default -> {}
            }
        });
        assertThat(thread.join(Duration.ofSeconds(20))).isTrue();
        assertThat(attempts).hasValue(3);
    }

    @Test
    void shouldLogAnotherFailureInPlaceOfOneThatCannotBeLogged() {
        List<String> lines = new ArrayList<>();
        FailureLog.write(new Unprintable(), failure -> lines.add(failure.toString()));
        assertThat(lines).singleElement().asString().contains(Unprintable.class.getName());
    }

    @Test
    void shouldOutliveABrokenLog() {
        FailureLog.write(new IllegalStateException("a fault"), failure -> {
            throw new IllegalStateException("the log is broken");
        });
    }
}
