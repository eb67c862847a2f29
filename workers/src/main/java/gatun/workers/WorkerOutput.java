// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * What a process says for people: lines that it prints, which are read to their end whatever they are, and messages of
 * its own. Both go to the log within one {@link OutputLimit}. One thread reads the lines; the rest is thread-safe.
 */
public final class WorkerOutput {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerOutput.class);

    /** The longest line that a worker prints; what is longer is several. */
    private static final int LONGEST_LINE = 8192;

    /** After so many characters that are left out, the reader rests: a process that prints in a loop waits then. */
    private static final int PACED_CHARACTERS = 1 << 16;

    /** The length of that rest, which leaves such a process 60 MB a second, and the server's cores to others. */
    private static final long PACE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final String name;
    private final StderrTail lastWords = new StderrTail();
    private final OutputLimit limit;

    /** @param name of the process, which each line begins with */
    WorkerOutput(String name) {
        this.name = name;
        limit = new OutputLimit(System::nanoTime, omitted -> LOG.warn("{}: {}", name, omitted));
    }

    /** Writes a message to {@code log}, unless the process has said too much. */
    public void log(Logger log, Level level, String message) {
        if (log.isEnabledForLevel(level) && limit.allows(message.length())) {
            log.atLevel(level).log("{}: {}", name, message);
        }
    }

    /** The last lines that the process has printed. */
    String lastWords() {
        return lastWords.toString();
    }

    /** Reads lines until the pipe ends, and closes it. */
    void read(InputStream pipe) {
        try (Reader characters = new InputStreamReader(pipe, StandardCharsets.UTF_8)) {
            read(characters);
        } catch (IOException e) {
            LOG.debug("The errors of '{}' ended", name, e);
        } finally {
            limit.finish();
        }
    }

    private void read(Reader characters) throws IOException {
        char[] chunk = new char[LONGEST_LINE];
        StringBuilder line = new StringBuilder();
        int omitted = 0;
        for (int count = characters.read(chunk); count >= 0; count = characters.read(chunk)) {
            int begin = 0;
            for (int i = 0; i < count; i++) {
                boolean ends = chunk[i] == '\n';
                if (ends || line.length() + i - begin == LONGEST_LINE) {
                    line.append(chunk, begin, i - begin);
                    omitted += note(line);
                    begin = ends ? i + 1 : i;
                }
            }
            line.append(chunk, begin, count - begin);
            if (omitted >= PACED_CHARACTERS) {
                LockSupport.parkNanos(this, PACE_NANOS);
                omitted = 0;
            }
        }
        if (!line.isEmpty()) {
            note(line);
        }
    }

    /** Takes note of a line, and begins the next; returns how many characters were left out. */
    private int note(StringBuilder line) {
        int length = line.length();
        boolean allowed = limit.allows(length);
        String words = line.toString();
        line.setLength(0);
        lastWords.add(words);
        if (allowed) {
            LOG.info("{}: {}", name, words);
            return 0;
        }
        return length + 1;
    }

    /** The last lines that a process has said. Safe for any thread. */
    static final class StderrTail {
        private static final int LINES = 5;
        private static final int LINE_CHARACTERS = 300;

        private final Deque<String> lines = new ArrayDeque<>(); // guarded by this

        synchronized void add(String line) {
            if (line.isBlank()) {
                return;
            }
            if (lines.size() == LINES) {
                lines.removeFirst();
            }
            String words = line.strip();
            lines.addLast(words.length() <= LINE_CHARACTERS ? words : words.substring(0, LINE_CHARACTERS) + "...");
        }

        @Override
        public synchronized String toString() {
            return String.join(" | ", lines);
        }
    }
}
