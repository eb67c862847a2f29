// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import java.util.function.Consumer;

/** Logs failures of foreign code, whose messages may throw, and survives a broken log. */
public final class FailureLog {
    private FailureLog() {}

    /** Has {@code line} log {@code failure}, or one in its place where that cannot be logged; never throws. */
    public static void write(Throwable failure, Consumer<? super Throwable> line) {
        try {
            line.accept(failure);
        } catch (Throwable unloggable) {
            writeInPlace(failure, unloggable, line);
        }
    }

    private static void writeInPlace(Throwable failure, Throwable unloggable, Consumer<? super Throwable> line) {
        try {
            line.accept(new IllegalStateException("a " + failure.getClass().getName()
                    + ", which cannot be logged because of a "
                    + unloggable.getClass().getName()));
        } catch (Throwable broken) {
            // The log itself is broken, and there is nowhere left to say so.
        }
    }
}
