// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.listener.PemFile;
import gatun.listener.TlsFiles;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagType.FlagException;
import java.util.Optional;

/** TLS on the HTTP listener, which is spoken where there is a certificate. Read once. */
final class HttpTlsFlags extends FlagGroup {
    private final TlsFileFlags files = new TlsFileFlags(
            this,
            "http",
            "Speaks HTTP over TLS, and only so, on the port, with this certificate in PEM format, followed by those"
                    + " that vouch for it.",
            "Lets in only clients with a certificate for which one of these vouches, in PEM format.");

    /** Empty where TLS is off. Throws {@link FlagException}, which names the file's flag that is missing. */
    Optional<TlsFiles> files() {
        boolean key = files.key.value().isPresent();
        Optional<PemFile> roots = TlsFileFlags.given(files.roots);
        if (files.certificate.value().isEmpty() && !key && roots.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new TlsFiles(
                TlsFileFlags.required(key ? files.key : files.roots, files.certificate),
                TlsFileFlags.required(files.certificate, files.key),
                roots));
    }
}
