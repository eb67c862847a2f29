// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ChildJvmTest {
    /** The main class of a process that is killed while it has an object. */
    static final class Owner {
        private Owner() {}

        public static void main(String[] arguments) throws Exception {
            try (SharedObject object = SharedObject.create(64)) {
                System.out.println("key " + object.key());
                while (System.in.read() >= 0) {
                    // Nobody writes: waits for the end.
                }
            }
        }
    }

    @Test
    void shouldRemoveWhatAKilledProcessLeavesButNothingElse() throws Exception {
        try (SharedObject other = SharedObject.create(64)) {
            Path left;
            try (ChildJvm child = ChildJvm.launch(Owner.class)) {
                left = Path.of("/dev/shm" + child.awaitLine("key", Duration.ofSeconds(60)));
                assertThat(left).exists();
            }
            assertThat(left).doesNotExist();
            assertThat(Path.of("/dev/shm" + other.key())).exists();
        }
    }
}
