// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.listener.PemFile;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagType;
import gatun.protocol.flags.FlagType.FlagException;
import java.nio.file.Path;
import java.util.Optional;

/** The files of TLS: the flags that HTTP and gRPC have in common. */
final class TlsFileFlags {
    final Flag<Optional<Path>> certificate;
    final Flag<Optional<Path>> key;
    final Flag<Optional<Path>> roots;

    /** Adds the flags to {@code group}; their names begin with {@code protocol}. */
    TlsFileFlags(FlagGroup group, String protocol, String certificateText, String rootsText) {
        certificate = group.optional("--" + protocol + "-server-cert", FlagType.PATH, certificateText);
        key = group.optional(
                "--" + protocol + "-server-key", FlagType.PATH, "The certificate's private key in PEM format.");
        roots = group.optional("--" + protocol + "-root-cert", FlagType.PATH, rootsText);
    }

    /** The file of a flag. Throws {@link FlagException} when it was not given, though {@code because} needs it. */
    static PemFile required(Flag<?> because, Flag<Optional<Path>> file) {
        return given(file)
                .orElseThrow(() ->
                        new FlagException(because.name() + " needs " + file.name() + "=FILE, a file in PEM format."));
    }

    /** The file of a flag; empty when it was not given. */
    static Optional<PemFile> given(Flag<Optional<Path>> file) {
        return file.value().map(path -> new PemFile(file.name(), path));
    }
}
