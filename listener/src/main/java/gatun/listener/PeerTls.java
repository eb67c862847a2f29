// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * The files with which this server asks another one over TLS: a certificate, followed by those of its issuers, with its
 * key, or neither; and the authorities that vouch for the other one, empty for those that Java knows.
 */
public record PeerTls(Optional<PemFile> certificate, Optional<PemFile> privateKey, Optional<PemFile> roots) {
    /** Reads the files. Throws {@link TlsException} naming the option of one that cannot be used. */
    public SSLContext read() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    certificate.isPresent() ? PemKeyStores.identity(certificate.get(), privateKey.orElseThrow()) : null,
                    roots.isPresent() ? PemKeyStores.authorities(roots.get()) : null,
                    null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new TlsException("TLS cannot be set up with " + this + ": " + e.getMessage(), e);
        }
    }
}
