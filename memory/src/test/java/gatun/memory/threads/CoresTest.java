// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.bindings.ThreadCore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CoresTest {
    @TempDir
    Path topology;

    /** Describes {@code cores} cores with so many logical processors each, numbered as Linux does on most machines. */
    private void machine(int cores, int siblings) throws IOException {
        for (int processor = 0; processor < cores * siblings; processor++) {
            int core = processor % cores;
            String list = String.join(
                    ",",
                    IntStream.range(0, siblings)
                            .mapToObj(i -> Integer.toString(core + i * cores))
                            .toList());
            Path folder = Files.createDirectories(topology.resolve("cpu" + processor + "/topology"));
            Files.writeString(folder.resolve("thread_siblings_list"), list + "\n");
        }
    }

    private static boolean told() {
        return true;
    }

    private static boolean notTold() {
        return false;
    }

    private static boolean notAsked() {
        throw new AssertionError("asked where it makes no difference");
    }

    private static BitSet processors(int first, int end) {
        BitSet set = new BitSet();
        set.set(first, end);
        return set;
    }

    @Test
    void shouldCountProcessorsThatAreCores() throws IOException {
        machine(2, 1);
        assertThat(Cores.count(topology, processors(0, 2), 2, CoresTest::notAsked))
                .isEqualTo(2);
    }

    @Test
    void shouldCountSiblingsOnce() throws IOException {
        machine(8, 2);
        assertThat(Cores.count(topology, processors(0, 16), 16, CoresTest::notTold))
                .isEqualTo(8);
    }

    @Test
    void shouldCountNoMoreThanTheQuotaMakes() throws IOException {
        machine(8, 2);
        assertThat(Cores.count(topology, processors(0, 16), 3, CoresTest::notAsked))
                .isEqualTo(3);
        assertThat(Cores.count(topology, processors(0, 16), 12, CoresTest::notTold))
                .as("of twelve processors' time")
                .isEqualTo(8);
    }

    @Test
    void shouldCountTheCoresOfTheAffinity() throws IOException {
        machine(8, 2);
        assertThat(Cores.count(topology, processors(0, 8), 8, CoresTest::notAsked))
                .as("one sibling of each core")
                .isEqualTo(8);
        BitSet pairs = processors(0, 2);
        pairs.set(8, 10);
        assertThat(Cores.count(topology, pairs, 4, CoresTest::notTold))
                .as("both of two cores")
                .isEqualTo(2);
    }

    @Test
    void shouldTakeAToldCountAsItIs() throws IOException {
        machine(2, 1);
        assertThat(Cores.count(topology, processors(0, 2), 64, CoresTest::notAsked))
                .isEqualTo(64);
        assertThat(Cores.count(topology, processors(0, 2), 1, CoresTest::notAsked))
                .isEqualTo(1);
    }

    @Test
    void shouldTakeAToldCountAsThatOfCores() throws IOException {
        machine(8, 2);
        assertThat(Cores.count(topology, processors(0, 16), 16, CoresTest::told))
                .isEqualTo(16);
        assertThat(Cores.count(topology, processors(0, 16), 12, CoresTest::told))
                .isEqualTo(12);
        assertThat(Cores.count(topology, processors(0, 16), 17, CoresTest::notAsked))
                .isEqualTo(17);
    }

    @Test
    void shouldCountLogicalProcessorsWhereTheTopologyIsHidden() {
        assertThat(Cores.count(topology.resolve("hidden"), processors(0, 16), 16, CoresTest::notAsked))
                .isEqualTo(16);
        assertThat(Cores.count(topology, new BitSet(), 16, CoresTest::notAsked))
                .as("where the affinity is not known, either")
                .isEqualTo(16);
    }

    @Test
    void shouldShareThemOut() {
        assertThat(Cores.share(1)).isEqualTo(Cores.physical());
        assertThat(Cores.share(Cores.physical())).isOne();
        assertThat(Cores.share(2 * Cores.physical())).isOne();
    }

    @Test
    void shouldCountThoseOfThisProcess() {
        assertThat(Cores.physical())
                .isBetween(1, Runtime.getRuntime().availableProcessors())
                .isLessThanOrEqualTo(ThreadCore.allowed().cardinality());
    }
}
