// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.Comparator;

/**
 * The protocol and the transport by which a request came; each protocol has constants of its own. Latencies are kept
 * apart by it.
 *
 * @param order the place in lists, the least first
 * @param protocol the protocol's name, as metrics give it
 * @param transport the transport's name, as metrics give it
 */
public record Origin(int order, String protocol, String transport) implements Comparable<Origin> {
    /** From this very process. */
    public static final Origin EMBEDDED = new Origin(Integer.MIN_VALUE, "none", "none");

    private static final Comparator<Origin> ORDER = Comparator.comparingInt(Origin::order)
            .thenComparing(Origin::protocol)
            .thenComparing(Origin::transport);

    @Override
    public int compareTo(Origin other) {
        return ORDER.compare(this, other);
    }
}
