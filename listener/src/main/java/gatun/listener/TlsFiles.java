// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/**
 * The certificate that a server shows, and the authorities whose clients it accepts.
 *
 * @param certificate the server's certificate, followed by those of its issuers
 * @param privateKey the key of that certificate
 * @param clientRoots the authorities that vouch for clients, each of which must then show a certificate; empty to let
 *     in everybody
 */
public record TlsFiles(PemFile certificate, PemFile privateKey, Optional<PemFile> clientRoots) {
    /** Protects a key store that never leaves memory. */
    private static final char[] NO_PASSWORD = {};

    /**
     * Reads the files.
     *
     * @throws TlsException naming the flag of the file that cannot be used
     */
    SSLContext read() {
        try {
            KeyStore identity = emptyStore();
            PrivateKey key = PrivateKeys.read(privateKey);
            try {
                identity.setKeyEntry(
                        "server", key, NO_PASSWORD, certificates(certificate).toArray(Certificate[]::new));
            } catch (GeneralSecurityException | IllegalArgumentException e) {
                throw certificate.wrong("its certificates do not belong together (" + e.getMessage() + ")", e);
            }
            requireMatch(identity, key);
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(identity, NO_PASSWORD);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), trust(), null);
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
        if (clientRoots.isEmpty()) {
            return new TrustManager[0];
        }
        KeyStore roots = emptyStore();
        for (Certificate root : certificates(clientRoots.get())) {
            roots.setCertificateEntry("root" + roots.size(), root);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(roots);
        return trust.getTrustManagers();
    }

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, NO_PASSWORD);
        return store;
    }

    private static List<Certificate> certificates(PemFile file) {
        List<Certificate> certificates = new ArrayList<>();
        for (PemFile.Block block : file.blocks()) {
            if (block.label().equals("CERTIFICATE")) {
                try {
                    certificates.add(CertificateFactory.getInstance("X.509")
                            .generateCertificate(new ByteArrayInputStream(block.der())));
                } catch (CertificateException e) {
                    throw file.wrong("a certificate in it is damaged (" + e.getMessage() + ")", e);
                }
            }
        }
        if (certificates.isEmpty()) {
            throw file.wrong("there is no certificate in it; expected PEM format (BEGIN CERTIFICATE)");
        }
        return certificates;
    }

    /** Requires that the key belongs to the certificate: otherwise every handshake would fail, and nothing before. */
    private void requireMatch(KeyStore identity, PrivateKey key) throws GeneralSecurityException {
        String algorithm = identity.getCertificate("server").getPublicKey().getAlgorithm();
        if (!algorithm.equals(key.getAlgorithm()) || !KeyMatch.proves(identity.getCertificate("server"), key)) {
            throw privateKey.wrong("the key is not the one of the certificate in " + certificate.flag() + "="
                    + certificate.path() + "; name the files that belong together");
        }
    }
}
