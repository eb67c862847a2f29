// SPDX-License-Identifier: Apache-2.0
package gatun.protocol;

import gatun.runtime.server.InferenceServer;

/** Makes a protocol whose jar is there, found by {@link java.util.ServiceLoader}; without flags. */
public interface ProtocolProvider {
    /** The protocol in front of {@code server}. */
    Protocol create(InferenceServer server, ProtocolSettings settings);
}
