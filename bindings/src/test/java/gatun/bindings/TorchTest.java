// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Calls the real library, where there is one for this platform. */
class TorchTest {
    @BeforeAll
    static void open() {
        Optional<Path> library = Torch.installed(LibraryCache.ofUser());
        assumeTrue(library.isPresent());
        assertThat(Torch.open(library.get())).isInstanceOf(NativeLibrary.Available.class);
    }

    @Test
    void shouldLeaveOtherThreadsTheirNumbers() throws Exception {
        try (ExecutorService first = Executors.newSingleThreadExecutor();
                ExecutorService second = Executors.newSingleThreadExecutor()) {
            assertThat(first.submit(() -> Torch.setThreadsOfCaller(3)).get()).isTrue();
            assertThat(second.submit(() -> Torch.setThreadsOfCaller(5)).get()).isTrue();
            assertThat(first.submit(Torch::threads).get()).isEqualTo(3);
            assertThat(second.submit(Torch::threads).get()).isEqualTo(5);
        }
    }
}
