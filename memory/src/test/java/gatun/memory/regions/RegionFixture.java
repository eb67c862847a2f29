// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.buffers.BufferPool;
import gatun.testing.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

/** A registry of regions, and a name for an object. Each test ends with no mapping, descriptor or buffer left. */
abstract class RegionFixture {
    static final long MIB = 1 << 20;

    final BufferPool pool = new BufferPool(16 * MIB);
    SharedRegions regions = SharedRegions.open(pool);
    String name = "";

    @BeforeEach
    void nameObjects(TestInfo test) {
        name = "/gatun-test-" + ProcessHandle.current().pid() + "-"
                + test.getTestMethod().orElseThrow().getName().hashCode();
    }

    @AfterEach
    void nothingShouldBeLeft() throws IOException {
        regions.close();
        assertThat(pool.usedBytes()).as("bytes lent").isZero();
        pool.close();
        assertThat(Mappings.descriptorsNaming("/dev/shm/"))
                .as("POSIX descriptors")
                .isZero();
        assertThat(Mappings.descriptorsNaming("/memfd:gatun")).as("memfds").isZero();
        assertThat(Mappings.naming("/memfd:gatun")).as("mapped memfds").isZero();
        assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain(name.substring(1));
        assertThat(Path.of("/dev/shm" + name)).doesNotExist();
    }

    void awaitUnmapped(int expected) {
        Await.until(expected + " mapped regions", () -> regions.mappedCount() == expected);
    }
}
