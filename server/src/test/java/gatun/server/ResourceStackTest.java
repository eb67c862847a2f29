// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResourceStackTest {
    private final List<String> closed = new ArrayList<>();

    private AutoCloseable failing(String name) {
        return () -> {
            closed.add(name);
            throw new IllegalStateException(name);
        };
    }

    @Test
    void shouldCloseInReverseAndFinishInSpiteOfFailures() {
        ResourceStack resources = new ResourceStack();
        resources.add(() -> closed.add("first"));
        resources.add(failing("second"));
        resources.add(failing("third"));

        Throwable failure = catchThrowable(resources::close);

        assertThat(closed).containsExactly("third", "second", "first");
        assertThat(failure).hasMessage("third");
        assertThat(failure.getSuppressed())
                .singleElement()
                .extracting(Throwable::getMessage)
                .isEqualTo("second");
    }

    @Test
    void shouldCloseOnlyOnce() {
        ResourceStack resources = new ResourceStack();
        resources.add(() -> closed.add("once"));
        resources.close();
        resources.close();
        assertThat(closed).containsExactly("once");
    }
}
