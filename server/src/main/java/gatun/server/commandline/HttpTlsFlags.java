// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.listener.PemFile;
import gatun.listener.TlsFiles;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** TLS on the HTTP listener, which is spoken where there is a certificate. Filled by picocli, read once. */
final class HttpTlsFlags {
    private static final String CERTIFICATE = "--http-server-cert";
    private static final String KEY = "--http-server-key";
    private static final String ROOTS = "--http-root-cert";

    @Option(
            names = CERTIFICATE,
            paramLabel = "FILE",
            description =
                    "Speaks HTTP over TLS, and only so, on the port, with this certificate in PEM format, followed"
                            + " by those that vouch for it.")
    Optional<Path> certificate = Optional.empty();

    @Option(names = KEY, paramLabel = "FILE", description = "The certificate's private key in PEM format.")
    Optional<Path> key = Optional.empty();

    @Option(
            names = ROOTS,
            paramLabel = "FILE",
            description = "Lets in only clients with a certificate for which one of these vouches, in PEM format.")
    Optional<Path> roots = Optional.empty();

    /**
     * The files for TLS; empty where TLS is off.
     *
     * @throws ParameterException naming a file's flag that is missing
     */
    Optional<TlsFiles> files(CommandSpec spec) {
        if (certificate.isEmpty() && key.isEmpty() && roots.isEmpty()) {
            return Optional.empty();
        }
        PemFile certificateFile = PemFlag.required(spec, key.isPresent() ? KEY : ROOTS, CERTIFICATE, certificate);
        PemFile keyFile = PemFlag.required(spec, CERTIFICATE, KEY, key);
        return Optional.of(new TlsFiles(certificateFile, keyFile, roots.map(path -> new PemFile(ROOTS, path))));
    }
}
