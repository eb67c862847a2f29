// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.listener.PemFile;
import gatun.listener.TlsFiles;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** TLS on the gRPC listener. Filled by picocli, read once. */
final class GrpcTlsFlags {
    private static final String CERTIFICATE = "--grpc-server-cert";
    private static final String KEY = "--grpc-server-key";
    private static final String ROOTS = "--grpc-root-cert";

    @Option(
            names = "--grpc-use-ssl",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "false",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether gRPC is spoken over TLS, and only so, on the port.")
    boolean tls;

    @Option(
            names = "--grpc-use-ssl-mutual",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "false",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "The same, and whether clients must show a certificate.")
    boolean mutual;

    @Option(
            names = CERTIFICATE,
            paramLabel = "FILE",
            description = "The server's certificate in PEM format, followed by those that vouch for it.")
    Optional<Path> certificate = Optional.empty();

    @Option(names = KEY, paramLabel = "FILE", description = "The certificate's private key in PEM format.")
    Optional<Path> key = Optional.empty();

    @Option(
            names = ROOTS,
            paramLabel = "FILE",
            description = "Certificates in PEM format of those who vouch for clients.")
    Optional<Path> roots = Optional.empty();

    /**
     * The files for TLS; empty where TLS is off.
     *
     * @throws ParameterException naming a file's flag that is missing
     */
    Optional<TlsFiles> files(CommandSpec spec) {
        if (!tls && !mutual) {
            return Optional.empty();
        }
        String flag = mutual ? "--grpc-use-ssl-mutual" : "--grpc-use-ssl";
        PemFile certificateFile = PemFlag.required(spec, flag, CERTIFICATE, certificate);
        PemFile keyFile = PemFlag.required(spec, flag, KEY, key);
        Optional<PemFile> clientRoots =
                mutual ? Optional.of(PemFlag.required(spec, flag, ROOTS, roots)) : Optional.empty();
        return Optional.of(new TlsFiles(certificateFile, keyFile, clientRoots));
    }
}
