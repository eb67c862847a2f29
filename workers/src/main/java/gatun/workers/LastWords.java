// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.util.ArrayDeque;
import java.util.Deque;

/** The last lines that a process has said. Safe for any thread. */
final class LastWords {
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
