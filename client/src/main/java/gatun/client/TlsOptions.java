// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import java.nio.file.Path;
import java.util.Optional;

/**
 * How the server is known, and how it knows this client, over TLS. All files are PEM.
 *
 * @param authorities certificates of who may have signed the server's; empty for those that Java trusts
 * @param certificate this client's certificate chain, for mutual TLS; empty for none
 * @param key the private key (PKCS 8) of {@code certificate}; empty with it
 */
public record TlsOptions(Optional<Path> authorities, Optional<Path> certificate, Optional<Path> key) {
    /** Trusts the certificates that Java trusts, and shows none. */
    public static final TlsOptions STANDARD = new TlsOptions(Optional.empty(), Optional.empty(), Optional.empty());

    /** Checks that a certificate comes with its key. */
    public TlsOptions {
        if (certificate.isPresent() != key.isPresent()) {
            throw new IllegalArgumentException(
                    "a certificate and its private key belong together: give both or neither");
        }
    }

    /** Trusts the server whose certificate one of these signed, and no other. */
    public static TlsOptions trusting(Path authorities) {
        return new TlsOptions(Optional.of(authorities), Optional.empty(), Optional.empty());
    }
}
