// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.http.json.JsonWriter;
import gatun.runtime.logging.AccessEntry;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/** A text that is made when asked for, at most once a second. Thread-safe. */
final class SharedText {
    private final Ticks ticks;
    private final Consumer<JsonWriter> writing;

    /** Held while the text is made: who asks meanwhile wants the same. */
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private long madeAt = -1;
    private byte[] text = {};

    /** A text that {@code writing} writes, anew after each of the {@code ticks}. */
    SharedText(Ticks ticks, Consumer<JsonWriter> writing) {
        this.ticks = ticks;
        this.writing = writing;
    }

    private byte[] make() {
        // The models that are looked at are not what the request asks for that happens to come first.
        AccessEntry entry = AccessEntry.current();
        AccessEntry.unbind();
        try {
            JsonWriter json = new JsonWriter();
            writing.accept(json);
            return Arrays.copyOf(json.array(), json.size());
        } finally {
            if (entry != null) {
                entry.bind();
            }
        }
    }

    /** The text as it is now; nobody changes it. */
    byte[] get() {
        lock.lock();
        try {
            long now = ticks.count();
            if (madeAt != now) {
                text = make();
                madeAt = now;
            }
            return text;
        } finally {
            lock.unlock();
        }
    }
}
