// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.access;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tokens of a file: one on each line that is not empty and does not begin with {@code #}. A changed file is read
 * again, within a second of the next request; one that cannot be read then leaves the tokens as they were. Safe for any
 * thread.
 */
public final class TokenFile {
    private static final Logger LOG = LoggerFactory.getLogger(TokenFile.class);
    private static final Duration LOOK_INTERVAL = Duration.ofSeconds(1);

    private final Path file;
    private final Duration interval;

    /** When to look at the file again, as a reading of {@link System#nanoTime}; who sets it looks. */
    private final AtomicLong nextLook;

    private volatile Content content;

    private record Content(List<String> tokens, FileTime modified, long byteSize) {}

    private TokenFile(Path file, Duration interval, Content content) {
        this.file = file;
        this.interval = interval;
        this.content = content;
        this.nextLook = new AtomicLong(System.nanoTime() + interval.toNanos());
    }

    /** Reads a file. Throws INVALID_ARGUMENT when it cannot be read, or holds no token. */
    public static TokenFile open(Path file) {
        return open(file, LOOK_INTERVAL);
    }

    /** As {@link #open(Path)}, but looks for changes after each {@code interval}. */
    static TokenFile open(Path file, Duration interval) {
        try {
            return new TokenFile(file, interval, read(file));
        } catch (IOException e) {
            throw GatunException.invalidArgument("the token file " + file + " cannot be read (" + IoFailure.reason(e)
                    + "); name a file that this user may read, with a token on each line");
        }
    }

    /** Whether the file holds {@code token}. Takes the same time whatever is wrong with it. */
    boolean holds(String token) {
        look();
        boolean held = false;
        for (String known : content.tokens()) {
            held |= ApiAccess.equal(known, token);
        }
        return held;
    }

    private void look() {
        long due = nextLook.get();
        long now = System.nanoTime();
        if (now - due < 0 || !nextLook.compareAndSet(due, now + interval.toNanos())) {
            return;
        }
        Content before = content;
        try {
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            if (!attributes.lastModifiedTime().equals(before.modified()) || attributes.size() != before.byteSize()) {
                content = read(file);
                LOG.info("The tokens of {} are read again", file);
            }
        } catch (IOException | GatunException e) {
            LOG.warn("The tokens of {} cannot be read again, and stay as they were: {}", file, IoFailure.reason(e));
        }
    }

    private static Content read(Path file) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        List<String> tokens = Files.readAllLines(file).stream()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList();
        if (tokens.isEmpty()) {
            throw GatunException.invalidArgument("the token file " + file + " holds no token; write one on each line");
        }
        return new Content(tokens, attributes.lastModifiedTime(), attributes.size());
    }
}
