// SPDX-License-Identifier: Apache-2.0
package gatun.server.embedded;

import gatun.memory.tensor.ErrorCode;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.AccessLog;
import org.jspecify.annotations.Nullable;

/** A request of this process in a flight recording, if one runs. For the thread that answers the request. */
final class EmbeddedEntry implements AutoCloseable {
    private static final String TRANSPORT = "embedded";
    private static final String ANSWERED = "OK";

    private static final EmbeddedEntry NONE = new EmbeddedEntry(null, null);

    private final @Nullable AccessEntry entry;

    /** Of a request over a transport whose thread asks the embedded server, in the place of which this is bound. */
    private final @Nullable AccessEntry outer;

    private String status = ErrorCode.INTERNAL.name();

    private EmbeddedEntry(@Nullable AccessEntry entry, @Nullable AccessEntry outer) {
        this.entry = entry;
        this.outer = outer;
    }

    /** The entry of a request that the calling thread answers from now on, until it is closed. */
    static EmbeddedEntry begin(AccessLog log, String call) {
        if (!log.isOn()) {
            return NONE;
        }
        AccessEntry outer = AccessEntry.current();
        AccessEntry entry = AccessEntry.begin(log, TRANSPORT, null, call);
        entry.bind();
        return new EmbeddedEntry(entry, outer);
    }

    void answered() {
        if (entry != null) {
            status = ANSWERED;
        }
    }

    void failed(ErrorCode code) {
        if (entry != null) {
            status = code.name();
        }
    }

    @Override
    public void close() {
        if (entry == null) {
            return;
        }
        if (outer == null) {
            AccessEntry.unbind();
        } else {
            outer.bind();
        }
        entry.end(status);
    }
}
