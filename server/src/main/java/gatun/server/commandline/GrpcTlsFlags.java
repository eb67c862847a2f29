// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.listener.PemFile;
import gatun.listener.TlsFiles;
import gatun.memory.tensor.GatunException;
import gatun.server.commandline.FlagGroup.Flag;
import gatun.tensorflow.serving.SslFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
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

    private final Flag<Optional<Path>> config = optional(
            "--ssl_config_file",
            FlagType.PATH,
            "Speak gRPC over TLS as FILE says: TensorFlow Serving's SSLConfig, in protobuf's text format.");

    /**
     * The files for TLS; empty where TLS is off.
     *
     * @throws ParameterException naming a file's flag that is missing, or that says something else
     */
    Optional<TlsFiles> files(CommandSpec spec) {
        Optional<Path> file = config.value();
        if (file.isPresent()) {
            if (tls.value() || mutual.value()) {
                throw new ParameterException(
                        spec.commandLine(),
                        config.name() + " and " + (mutual.value() ? mutual : tls).name()
                                + " both say how gRPC is protected; give one of them.");
            }
            return Optional.of(files(spec, file.get()));
        }
        if (!tls.value() && !mutual.value()) {
            return Optional.empty();
        }
        Flag<Boolean> because = mutual.value() ? mutual : tls;
        return Optional.of(new TlsFiles(
                TlsFileFlags.required(spec, because, files.certificate),
                TlsFileFlags.required(spec, because, files.key),
                mutual.value() ? Optional.of(TlsFileFlags.required(spec, because, files.roots)) : Optional.empty()));
    }

    private TlsFiles files(CommandSpec spec, Path file) {
        SslFile read;
        try {
            read = SslFile.read(file);
        } catch (GatunException e) {
            throw new ParameterException(spec.commandLine(), config.name() + ": " + e.getMessage(), e);
        }
        if (read.clientsVerified() && read.clientRoots().isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(),
                    config.name() + "=" + file + ": client_verify is true and there is no custom_ca; add the"
                            + " certificates, in PEM format, of those who vouch for clients.");
        }
        return new TlsFiles(
                part("server_cert", file, SslFile::certificate),
                part("server_key", file, SslFile::key),
                read.clientsVerified() ? Optional.of(part("custom_ca", file, SslFile::clientRoots)) : Optional.empty());
    }

    private PemFile part(String field, Path file, Function<SslFile, String> part) {
        return new PemFile(field + " of " + config.name(), file, path -> {
            try {
                return part.apply(SslFile.read(path));
            } catch (GatunException e) {
                throw new IOException(e.getMessage(), e);
            }
        });
    }
}
