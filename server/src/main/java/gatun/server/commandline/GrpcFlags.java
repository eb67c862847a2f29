// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.listener.TlsFiles;
import gatun.protocol.flags.FlagGroup.OverlayFlags;
import gatun.server.settings.ListenerSettings.GrpcSettings;
import java.util.Optional;

/** The gRPC listener. Read once. */
final class GrpcFlags extends OverlayFlags<GrpcSettings> {
    private final BindFlags bind = new BindFlags(this, "grpc", "gRPC", "--grpc_socket_path", standard.bind());

    GrpcFlags(GrpcSettings standard) {
        super(standard);
    }

    GrpcSettings settings(Optional<TlsFiles> tls, KeepaliveSettings keepalive) {
        return new GrpcSettings(bind.settings(tls), keepalive);
    }
}
