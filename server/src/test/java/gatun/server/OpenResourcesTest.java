// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenResourcesTest {
    private final List<String> closed = new ArrayList<>();

    private AutoCloseable failing(String name) {
        return () -> {
            closed.add(name);
            throw new IllegalStateException(name);
        };
    }

    @Test
    void shouldCloseInReverseAndFinishInSpiteOfFailures() {
        OpenResources opened = new OpenResources();
        opened.add(() -> closed.add("first"));
        opened.add(failing("second"));
        opened.add(failing("third"));

        Throwable failure = catchThrowable(opened::close);

        assertThat(closed).containsExactly("third", "second", "first");
        assertThat(failure).hasMessage("third");
        assertThat(failure.getSuppressed())
                .singleElement()
                .extracting(Throwable::getMessage)
                .isEqualTo("second");
    }

    @Test
    void shouldCloseOnlyOnce() {
        OpenResources opened = new OpenResources();
        opened.add(() -> closed.add("once"));
        opened.close();
        opened.close();
        assertThat(closed).containsExactly("once");
    }
}
