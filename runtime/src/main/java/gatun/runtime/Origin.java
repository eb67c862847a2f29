// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * The protocol and transport by which a request came, as metrics name them; each protocol has constants of its own.
 * Latencies are kept apart by it. The least {@code order} is first in lists.
 */
public record Origin(int order, String protocol, String transport) implements Comparable<Origin> {
    /** From this very process. */
    public static final Origin EMBEDDED = new Origin(Integer.MIN_VALUE, "none", "none");

    private static final Comparator<Origin> ORDER = Comparator.comparingInt(Origin::order)
            .thenComparing(Origin::protocol)
            .thenComparing(Origin::transport);

    // Those of a record are made when first called, which takes milliseconds of each start.
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Origin origin
                && order == origin.order
                && protocol.equals(origin.protocol)
                && transport.equals(origin.transport);
    }

    @Override
    public int hashCode() {
        return 31 * protocol.hashCode() + transport.hashCode();
    }

    @Override
    public int compareTo(Origin other) {
        return ORDER.compare(this, other);
    }
}
