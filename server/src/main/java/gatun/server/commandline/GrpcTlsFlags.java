// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.listener.TlsFiles;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.ProtocolProvider.GrpcTls;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagType.FlagException;
import java.util.List;
import java.util.Optional;

/** TLS on the gRPC listener. Read once. */
final class GrpcTlsFlags extends FlagGroup {
    private final Flag<Boolean> tls =
            yesOrNo("--grpc-use-ssl", false, "Whether gRPC is spoken over TLS, and only so, on the port.");
    private final Flag<Boolean> mutual =
            yesOrNo("--grpc-use-ssl-mutual", false, "The same, and whether clients must show a certificate.");
    private final TlsFileFlags files = new TlsFileFlags(
            this,
            "grpc",
            "The server's certificate in PEM format, followed by those that vouch for it.",
            "Certificates in PEM format of those who vouch for clients.");

    /** Empty where TLS is off. Throws {@link FlagException} for a file's flag. */
    Optional<TlsFiles> files(List<ProtocolProvider> protocols) {
        Flag<Boolean> because = mutual.value() ? mutual : tls;
        Optional<GrpcTls> other = protocols.stream()
                .flatMap(protocol -> protocol.grpcTls().stream())
                .findFirst();
        if (other.isPresent() && because.value()) {
            throw new FlagException(other.get().flag() + " and " + because.name()
                    + " both say how gRPC is protected; give one of them.");
        }
        if (other.isPresent()) {
            return Optional.of(other.get().files().get());
        }
        if (!because.value()) {
            return Optional.empty();
        }
        return Optional.of(new TlsFiles(
                TlsFileFlags.required(because, files.certificate),
                TlsFileFlags.required(because, files.key),
                mutual.value() ? Optional.of(TlsFileFlags.required(because, files.roots)) : Optional.empty()));
    }
}
