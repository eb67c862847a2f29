// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.access;

import java.util.Objects;

/**
 * The rules for headers of requests over one protocol. Immutable, and safe for any thread.
 *
 * @param access which requests need a header or a token
 * @param forwarding which headers become parameters of inference requests
 */
public record HeaderRules(ApiAccess access, HeaderForwarding forwarding) {
    private static final HeaderRules NONE = new HeaderRules(ApiAccess.open(), HeaderForwarding.none());

    /** Checks that nothing is missing. */
    public HeaderRules {
        Objects.requireNonNull(access, "access");
        Objects.requireNonNull(forwarding, "forwarding");
    }

    /** Nothing is restricted and nothing forwarded. */
    public static HeaderRules none() {
        return NONE;
    }

    /** The same with other restrictions. */
    public HeaderRules withAccess(ApiAccess other) {
        return new HeaderRules(other, forwarding);
    }

    /** The same with other headers forwarded. */
    public HeaderRules withForwarding(HeaderForwarding other) {
        return new HeaderRules(access, other);
    }
}
