// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ChildJvm;
import gatun.it.harness.ServerExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A program with the client, over HTTP alone, in a JVM that was told nothing. */
class PlainHttpIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @RegisterExtension
    static final ServerExtension server = ServerExtension.ofExamples();

    private static ChildJvm program(List<String> flags, int most) {
        return ChildJvm.launchPlainly(
                flags, PlainHttpProgram.class, server.http("").toString(), Integer.toString(most));
    }

    /** What the JVM says goes to the same place. */
    @Test
    void shouldSayNothingOfNativeAccess() throws Exception {
        try (ChildJvm program = program(List.of(), 1_000_000)) {
            List<String> answers = List.of(
                    "1 true", "10 true", "100 true", "1000 true", "10000 true", "100000 true", "1000000 true", "4");
            List<String> both = new ArrayList<>(answers);
            both.addAll(answers);
            assertThat(program.awaitEnd(LIMIT)).isEqualTo(both);
        }
    }

    @Test
    void shouldGetResponsesBeyondTheJvmsLimitOfNativeMemory() throws Exception {
        try (ChildJvm program =
                program(List.of("-XX:MaxDirectMemorySize=1m", "--enable-native-access=ALL-UNNAMED"), 1_000_000)) {
            assertThat(program.awaitEnd(LIMIT)).contains("1000000 true").doesNotContain("1000000 false");
        }
    }
}
