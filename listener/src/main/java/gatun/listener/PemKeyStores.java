// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Brings what files in PEM format hold into the form in which Java's TLS takes it. Stateless. */
final class PemKeyStores {
    /** Protects a key store that never leaves memory. */
    private static final char[] NO_PASSWORD = {};

    private static final String IDENTITY = "identity";

    private PemKeyStores() {}

    /**
     * What one end shows of itself.
     *
     * @param certificate its certificate, followed by those of its issuers
     * @param privateKey the key of that certificate
     * @throws TlsException naming the flag of the file that cannot be used
     */
    static KeyManager[] identity(PemFile certificate, PemFile privateKey) throws GeneralSecurityException, IOException {
        KeyStore store = emptyStore();
        PrivateKey key = PrivateKeys.read(privateKey);
        try {
            store.setKeyEntry(
                    IDENTITY, key, NO_PASSWORD, certificates(certificate).toArray(Certificate[]::new));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw certificate.wrong("its certificates do not belong together (" + e.getMessage() + ")", e);
        }
        requireMatch(store.getCertificate(IDENTITY), certificate, key, privateKey);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, NO_PASSWORD);
        return keys.getKeyManagers();
    }

    /**
     * The judges of the other end.
     *
     * @param roots the certificates of the authorities that vouch for it
     * @throws TlsException when the file cannot be used
     */
    static TrustManager[] authorities(PemFile roots) throws GeneralSecurityException, IOException {
        KeyStore store = emptyStore();
        for (Certificate root : certificates(roots)) {
            store.setCertificateEntry("root" + store.size(), root);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
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
    private static void requireMatch(Certificate shown, PemFile certificate, PrivateKey key, PemFile privateKey)
            throws GeneralSecurityException {
        String algorithm = shown.getPublicKey().getAlgorithm();
        if (!algorithm.equals(key.getAlgorithm()) || !KeyMatch.proves(shown, key)) {
            throw privateKey.wrong("the key is not the one of the certificate in " + certificate.flag() + "="
                    + certificate.path() + "; name the files that belong together");
        }
    }
}
