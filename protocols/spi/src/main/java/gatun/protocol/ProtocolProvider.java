// SPDX-License-Identifier: Apache-2.0
package gatun.protocol;

import gatun.runtime.server.InferenceServer;

/**
 * Makes a protocol that the server finds by {@link java.util.ServiceLoader}: a distribution speaks it by having its
 * jar. It is for protocols without flags of their own.
 */
public interface ProtocolProvider {
    /** The protocol in front of {@code server}. */
    Protocol create(InferenceServer server, ProtocolSettings settings);
}
