// SPDX-License-Identifier: Apache-2.0
package gatun.testing.attacks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** How much the server lets an attacker send on a connection with one stream. Thread-safe. */
final class SendWindow {
    private static final int SETTINGS_INITIAL_WINDOW_SIZE = 4;
    private static final int SETTING_BYTES = 6;
    private static final int DEFAULT_BYTES = 65_535;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Guarded by lock.
    private long connection = DEFAULT_BYTES;
    private long stream = DEFAULT_BYTES;
    private long initial = DEFAULT_BYTES;
    private boolean shut;

    /** Reads the payload of SETTINGS. */
    void settings(ByteBuffer payload) {
        lock.lock();
        try {
            while (payload.remaining() >= SETTING_BYTES) {
                int name = payload.getShort();
                int value = payload.getInt();
                if (name == SETTINGS_INITIAL_WINDOW_SIZE) {
                    stream += value - initial;
                    initial = value;
                }
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Adds the increment of a WINDOW_UPDATE on stream {@code on}. */
    void grow(int on, int increment) {
        lock.lock();
        try {
            if (on == 0) {
                connection += increment;
            } else {
                stream += increment;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until {@code byteSize} bytes may be sent, and takes them. */
    void take(int byteSize) throws IOException {
        lock.lock();
        try {
            while (!shut && (connection < byteSize || stream < byteSize)) {
                changed.awaitUninterruptibly();
            }
            if (shut) {
                throw new IOException("the call is over");
            }
            connection -= byteSize;
            stream -= byteSize;
        } finally {
            lock.unlock();
        }
    }

    /** Lets nobody wait any more. */
    void shut() {
        lock.lock();
        try {
            shut = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
