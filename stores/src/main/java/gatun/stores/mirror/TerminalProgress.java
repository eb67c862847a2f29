// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import java.io.Console;
import java.io.PrintStream;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** One line of a terminal, which is written over. */
public final class TerminalProgress implements FetchProgress {
    private static final long REDRAW_NANOS = 100_000_000;
    private static final double MIB = 1 << 20;

    private final PrintStream terminal;
    private String what = "";
    private long all;
    private long there;
    private long begun;
    private long drawn;

    /** Writes to {@code terminal}. */
    public TerminalProgress(PrintStream terminal) {
        this.terminal = terminal;
    }

    /** That of standard error, where a person looks at it; otherwise none. */
    public static FetchProgress ofTerminal() {
        boolean terminal =
                Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
        return terminal ? new TerminalProgress(System.err) : FetchProgress.NONE;
    }

    @Override
    public Fetch begin(String title, Set<String> models, int files, long byteSize) {
        start(title + ", " + files + (files == 1 ? " file" : " files"), byteSize);
        return new Fetch() {
            @Override
            public void add(long byteCount) {
                came(byteCount);
            }

            @Override
            public void close() {
                clear();
            }
        };
    }

    private synchronized void start(String title, long byteSize) {
        what = title;
        all = byteSize;
        there = 0;
        begun = System.nanoTime();
        drawn = begun;
        draw(begun);
    }

    private synchronized void came(long byteCount) {
        there += byteCount;
        long now = System.nanoTime();
        if (now - drawn >= REDRAW_NANOS) {
            drawn = now;
            draw(now);
        }
    }

    private void draw(long now) {
        double seconds = Math.max(1, now - begun) / 1e9;
        terminal.printf(
                Locale.ROOT,
                "\r\033[K  %s: %.1f of %.1f MiB, %.1f MiB/s",
                what,
                there / MIB,
                all / MIB,
                there / MIB / seconds);
        terminal.flush();
    }

    private synchronized void clear() {
        terminal.print("\r\033[K");
        terminal.flush();
    }
}
