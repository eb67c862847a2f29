// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.listener.TlsFiles;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

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

    /**
     * The files for TLS; empty where TLS is off.
     *
     * @throws ParameterException naming a file's flag that is missing
     */
    Optional<TlsFiles> files(CommandSpec spec) {
        if (!tls.value() && !mutual.value()) {
            return Optional.empty();
        }
        Flag<Boolean> because = mutual.value() ? mutual : tls;
        return Optional.of(new TlsFiles(
                TlsFileFlags.required(spec, because, files.certificate),
                TlsFileFlags.required(spec, because, files.key),
                mutual.value() ? Optional.of(TlsFileFlags.required(spec, because, files.roots)) : Optional.empty()));
    }
}
