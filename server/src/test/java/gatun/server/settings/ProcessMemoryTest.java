// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessMemoryTest {
    @ParameterizedTest
    @CsvSource({
        "25769803776,6442450944",
        "1073741824,268435456",
        "1073741820,268435455",
        "536870912,134217728",
        "0,268435456",
        "-1,268435456"
    })
    void shouldGiveThePoolAQuarter(long memoryByteSize, long poolByteSize) {
        assertThat(ProcessMemory.poolByteSize(memoryByteSize)).isEqualTo(poolByteSize);
    }

    @TempDir
    Path root;

    private void write(String file, String content) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, content);
    }

    private void writeMachine() throws IOException {
        write("proc/meminfo", "MemTotal:       24683596 kB\nMemFree:         1234 kB\n");
    }

    @Test
    void shouldTellTheMachinesMemoryWithoutALimit() throws IOException {
        writeMachine();
        write("proc/self/cgroup", "0::/user.slice\n");
        write("sys/fs/cgroup/user.slice/memory.max", "max\n");
        assertThat(ProcessMemory.byteSize(root)).isEqualTo(24_683_596L << 10);
    }

    @Test
    void shouldTellTheLeastLimitOfTheGroupsAroundTheProcess() throws IOException {
        writeMachine();
        write("proc/self/cgroup", "0::/pod/container\n");
        write("sys/fs/cgroup/pod/memory.max", "536870912\n");
        write("sys/fs/cgroup/pod/container/memory.max", "1073741824\n");
        assertThat(ProcessMemory.byteSize(root)).isEqualTo(512L << 20);
    }

    @Test
    void shouldTellTheLimitOfAContainerThatSeesItsOwnGroupAlone() throws IOException {
        writeMachine();
        write("proc/self/cgroup", "4:memory:/docker/0123\n1:cpu,cpuacct:/docker/0123\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n");
        assertThat(ProcessMemory.byteSize(root)).isEqualTo(256L << 20);
    }

    @Test
    void shouldPassOverALimitBeyondTheMachinesMemory() throws IOException {
        writeMachine();
        write("proc/self/cgroup", "4:memory:/\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        assertThat(ProcessMemory.byteSize(root)).isEqualTo(24_683_596L << 10);
    }

    @Test
    void shouldKnowNothingWithoutTheKernelsFiles() {
        assertThat(ProcessMemory.byteSize(root)).isZero();
    }

    @Test
    void shouldTellWhatTheJvmTells() {
        long told =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
        assertThat(ProcessMemory.byteSize(Path.of("/"))).isEqualTo(told);
    }
}
