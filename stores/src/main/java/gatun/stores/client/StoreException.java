// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import java.io.IOException;

/** A store did not give what was asked of it. The message holds no credentials. */
public final class StoreException extends IOException {
    private static final long serialVersionUID = 1;

    private final Kind kind;

    /** What went wrong. */
    public enum Kind {
        /** The store is not there, too slow, or says that it is ill: later it may answer. */
        UNAVAILABLE,
        /** It does not know who asks, or does not let them. */
        DENIED,
        /** There is no such bucket or object. */
        ABSENT,
        /** The object has changed since it was listed. */
        CHANGED,
        /** It sent something else than it announced, or what nobody can understand. */
        MALFORMED,
        /** It holds more than the limits allow. */
        LIMIT
    }

    /** An exception with a message for the operator. */
    public StoreException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** An exception with a cause. */
    public StoreException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /** What went wrong. */
    public Kind kind() {
        return kind;
    }
}
