// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import gatun.runtime.logging.AccessLog.RecordedLog;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Entries that are events of a flight recording. */
class RecordedLogTest {
    private final AccessLog log = new RecordedLog(AccessLog.OFF);

    @TempDir
    Path folder;

    @Test
    void shouldWantNothingAndMakeNothingWithoutRecording() {
        assertThat(log.isOn()).isFalse(); // loads the classes
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        threads.getCurrentThreadAllocatedBytes(); // which may itself make something the first time
        int wanted = 0;
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 100_000; i++) {
            wanted += log.isOn() ? 1 : 0;
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(wanted).isZero();
        assertThat(allocated).as("bytes for 100,000 requests").isLessThan(100_000);
    }

    @Test
    void shouldCommitNothingWhereTheRecordingWantsOtherEvents() throws IOException {
        try (Recording recording = new Recording()) {
            recording.enable("gatun.ModelLoad");
            recording.start();
            assertThat(log.isOn()).isFalse();
            request("200");
            assertThat(requests(recording)).isEmpty();
        }
    }

    @Test
    void shouldCommitNothingThatTookLessThanTheThreshold() throws IOException {
        try (Recording recording = new Recording()) {
            recording.enable("gatun.Request").withThreshold(Duration.ofHours(1));
            recording.start();
            assertThat(log.isOn()).isTrue();
            request("200");
            assertThat(requests(recording)).isEmpty();
        }
    }

    @Test
    void shouldTellWhatTheEntryHasAndNoMoreOfALongText() throws IOException {
        try (Recording recording = new Recording()) {
            recording.enable("gatun.Request").withoutThreshold();
            recording.start();
            assertThat(log.isOn()).isTrue();
            assertThat(log.hasLines()).isFalse();
            request("404");
            List<RecordedEvent> found = requests(recording);
            assertThat(found).hasSize(1);
            RecordedEvent event = found.getFirst();
            assertThat(event.getString("transport")).isEqualTo("http");
            assertThat(event.getString("request")).hasSize(256 + 3).startsWith("GET /aaa");
            assertThat(event.getString("model")).hasSize(256 + 3);
            assertThat(event.getString("status")).isEqualTo("404");
            assertThat(event.getLong("bytesReceived")).isEqualTo(3);
            assertThat(event.getLong("bytesSent")).isEqualTo(4);
        }
        assertThat(log.isOn()).isFalse();
    }

    private void request(String status) {
        AccessEntry entry = AccessEntry.begin(log, "http", null, "GET /" + "a".repeat(400));
        entry.bind();
        AccessEntry.noteModel("m".repeat(400), "1");
        AccessEntry.unbind();
        entry.byteSizes(3, 4);
        entry.end(status);
        entry.end("500"); // only the first counts
    }

    private List<RecordedEvent> requests(Recording recording) throws IOException {
        recording.stop();
        Path file = folder.resolve("requests.jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("gatun.Request"))
                .toList();
    }
}
