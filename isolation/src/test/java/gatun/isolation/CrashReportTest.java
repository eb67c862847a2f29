// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class CrashReportTest {
    /** No process has this number. */
    private static final long PID = 1L << 40;

    private static Path report() {
        return Path.of(EngineCommand.CrashReport.pattern().toString().replace("%p", Long.toString(PID)));
    }

    @Test
    void shouldTellSignalAndPlaceAndDeleteTheReport() throws IOException {
        Files.writeString(report(), """
                #
                # A fatal error has been detected by the Java Runtime Environment:
                #
                #  SIGSEGV (0xb) at pc=0x00007f0ecc591297, pid=1, tid=2
                #
                # JRE version: OpenJDK Runtime Environment
                # Problematic frame:
                # C  [libcustom.so+0x1a2b]  run+0x1b
                #
                """);
        assertThat(EngineCommand.CrashReport.take(PID)).hasValue("SIGSEGV in C  [libcustom.so+0x1a2b]  run+0x1b");
        assertThat(report()).doesNotExist();
        assertThat(EngineCommand.CrashReport.take(PID)).isEmpty();
    }

    @Test
    void shouldTellNothingOfAReportThatIsOther() throws IOException {
        Files.writeString(report(), "nothing");
        assertThat(EngineCommand.CrashReport.take(PID)).isEmpty();
        assertThat(report()).doesNotExist();
    }
}
