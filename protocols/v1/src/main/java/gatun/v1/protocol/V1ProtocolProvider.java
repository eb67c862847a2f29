// SPDX-License-Identifier: Apache-2.0
package gatun.v1.protocol;

import gatun.protocol.Protocol;
import gatun.protocol.ProtocolProvider;
import java.util.Optional;

/** Has the server speak v1 wherever this jar is. */
public final class V1ProtocolProvider implements ProtocolProvider {
    private static final int PRECEDENCE = 200;

    /** For {@link java.util.ServiceLoader}. */
    public V1ProtocolProvider() {}

    @Override
    public int precedence() {
        return PRECEDENCE;
    }

    @Override
    public Optional<Protocol> create(ProtocolContext context) {
        return Optional.of(new V1Protocol(context.server(), context.settings()));
    }
}
