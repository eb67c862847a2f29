// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.io.IOException;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/**
 * A server's certificate, followed by those of its issuers, its key, and the authorities that vouch for clients, each
 * of which must then show a certificate; empty to let in everybody.
 */
public record TlsFiles(PemFile certificate, PemFile privateKey, Optional<PemFile> clientRoots) {
    /** Reads the files. Throws {@link TlsException} naming the flag of the file that cannot be used. */
    SSLContext read() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(PemKeyStores.identity(certificate, privateKey), trust(), null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw certificate.wrong("it cannot be served with (" + e.getMessage() + ")", e);
        }
    }

    /** The times of the files' last changes, to see whether they have changed since. */
    List<Object> stamps() {
        List<Object> stamps = new ArrayList<>();
        Stream.concat(Stream.of(certificate, privateKey), clientRoots.stream()).forEach(file -> {
            try {
                stamps.add(Files.getLastModifiedTime(file.path()));
                stamps.add(Files.size(file.path()));
            } catch (IOException e) {
                stamps.add(String.valueOf(e));
            }
        });
        return stamps;
    }

    private TrustManager[] trust() throws GeneralSecurityException, IOException {
        return clientRoots.isEmpty() ? new TrustManager[0] : PemKeyStores.authorities(clientRoots.get());
    }
}
