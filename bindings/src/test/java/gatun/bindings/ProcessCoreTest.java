// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On a machine with one core nothing is ever bound, which these tests expect too. */
class ProcessCoreTest {
    private final BitSet allowed = ThreadCore.allowed();
    private final int first = allowed.nextSetBit(0);
    private final int last = allowed.length() - 1;
    private Process process;

    @BeforeEach
    void start() throws Exception {
        process = new ProcessBuilder("sleep", "1000").start();
    }

    @AfterEach
    void end() throws Exception {
        process.destroyForcibly().waitFor();
    }

    /** The cores of the process as the system shows them. */
    private String cores() throws Exception {
        return Files.readAllLines(Path.of("/proc/" + process.pid() + "/status")).stream()
                .filter(line -> line.startsWith("Cpus_allowed_list:"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldBindToACore() throws Exception {
        assertThat(new ProcessCore(process.pid()).bind(last)).isEqualTo(first != last);
        assertThat(cores()).isEqualTo(Integer.toString(last));
    }

    @Test
    void shouldLeaveAProcessAloneThatOthersHaveBound() throws Exception {
        ProcessCore core = new ProcessCore(process.pid());
        new ProcessCore(process.pid()).bind(last);

        assertThat(core.bind(first)).isFalse();
        assertThat(cores()).isEqualTo(Integer.toString(last));
        assertThat(core.bind(last)).isFalse();
    }

    @Test
    void shouldBindToNoCoreThatIsNotThere() throws Exception {
        String before = cores();
        ProcessCore core = new ProcessCore(process.pid());
        for (int none : List.of(CoreBinding.NO_CORE, allowed.length(), Integer.MAX_VALUE, Integer.MIN_VALUE)) {
            assertThat(core.bind(none)).isFalse();
        }
        assertThat(cores()).isEqualTo(before);
    }

    @Test
    void shouldBindNoProcessThatHasEnded() throws Exception {
        ProcessCore core = new ProcessCore(process.pid());
        process.destroyForcibly().waitFor();
        assertThat(core.bind(first)).isFalse();
        assertThat(new ProcessCore(process.pid()).bind(first)).isFalse();
    }
}
