// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.runtime.logging.AccessEntry;
import gatun.server.settings.LoggingSettings.AccessLogSettings;
import gatun.server.settings.LoggingSettings.LogRotation;
import gatun.testing.Await;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class AccessLogWriterTest {
    @TempDir
    Path folder;

    private AccessLogWriter open(Path file) {
        return AccessLogWriter.open(new AccessLogSettings(Optional.of(file), false), LogRotation.NONE);
    }

    private static void write(AccessLogWriter log, int from, int to) {
        for (int i = from; i < to; i++) {
            AccessEntry.begin(log, "http", null, "GET /" + i).end("200");
        }
    }

    @Test
    void shouldHaveWrittenAllOnceItIsClosed() throws IOException {
        Path file = folder.resolve("access");
        AccessLogWriter log = open(file);
        write(log, 0, 1000);
        log.close();
        assertThat(Files.readAllLines(file)).hasSize(1000).last().asString().contains("\"GET /999\"");
        assertThat(log.writtenCount()).isEqualTo(1000);
        assertThat(log.droppedCount()).isZero();
    }

    @Test
    void shouldDropAndCountWhatAFullDiskDoesNotTake() {
        AccessLogWriter log = open(Path.of("/dev/full"));
        write(log, 0, 100);
        Await.until("all are dropped", () -> log.droppedCount() == 100);
        log.close();
        assertThat(log.writtenCount()).isZero();
    }

    @Test
    void shouldLetNobodyWaitForAPipeThatNobodyReads() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        AccessLogWriter log = open(pipe);
        // Returns, though the pipe cannot even be opened: that is the test.
        write(log, 0, AccessLogWriter.CAPACITY + 5000);
        assertThat(log.droppedCount()).isEqualTo(5000);
        assertThat(log.writtenCount()).isZero();

        long kept = AccessLogWriter.CAPACITY;
        try (BufferedReader reader = Files.newBufferedReader(pipe)) {
            for (long i = 0; i < kept; i++) {
                assertThat(reader.readLine()).contains("\"GET /" + i + "\"");
            }
            Await.until("all are counted", () -> log.writtenCount() == kept);
        }
        log.close();
    }

    @Test
    void shouldNotWaitLongAtItsEnd() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        AccessLogWriter log = open(pipe);
        write(log, 0, 10);
        Thread closing = Thread.ofVirtual().start(log::close);
        assertThat(closing.join(Duration.ofSeconds(30))).isTrue();
        // Lets the thread that waits for a reader go.
        Process reader = new ProcessBuilder("cat", pipe.toString())
                .redirectOutput(folder.resolve("late").toFile())
                .start();
        assertThat(reader.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldGoOnInANewFileWhenTold() throws IOException {
        Path file = folder.resolve("access");
        AccessLogWriter log = open(file);
        write(log, 0, 1);
        Await.until("the first is written", () -> log.writtenCount() == 1);
        Path moved = Files.move(file, folder.resolve("access.old"));
        log.reopen();
        Await.until("there is a new file", () -> Files.exists(file));
        write(log, 1, 2);
        log.close();
        assertThat(moved).content().contains("\"GET /0\"").doesNotContain("\"GET /1\"");
        assertThat(file).content().contains("\"GET /1\"").doesNotContain("\"GET /0\"");
    }

    @Test
    void shouldNameAFileThatCannotBeWritten() {
        Path missing = folder.resolve("none/access");
        assertThatThrownBy(() -> open(missing))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("--access-log=" + missing + " cannot be written");
        assertThatThrownBy(() -> open(folder)).hasMessageContaining("--access-log=" + folder);
    }
}
