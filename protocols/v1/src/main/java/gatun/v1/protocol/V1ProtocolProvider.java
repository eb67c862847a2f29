// SPDX-License-Identifier: Apache-2.0
package gatun.v1.protocol;

import gatun.protocol.Protocol;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.server.InferenceServer;

/** Has the server speak v1 wherever this jar is. */
public final class V1ProtocolProvider implements ProtocolProvider {
    /** For {@link java.util.ServiceLoader}. */
    public V1ProtocolProvider() {}

    @Override
    public Protocol create(InferenceServer server, ProtocolSettings settings) {
        return new V1Protocol(server, settings);
    }
}
