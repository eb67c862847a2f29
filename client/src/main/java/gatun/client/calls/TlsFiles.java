// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import gatun.client.TlsOptions;
import gatun.memory.tensor.IoFailure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/**
 * Reads the PEM files that {@link TlsOptions} name, for every protocol in the same way. Each method throws
 * {@link IllegalArgumentException} when a file cannot be read, or is not what it should be. Stateless and safe for any
 * thread.
 */
public final class TlsFiles {
    private static final String CERTIFICATE_BEGIN = "-----BEGIN CERTIFICATE-----";
    private static final String KEY_BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String KEY_END = "-----END PRIVATE KEY-----";
    private static final List<String> KEY_ALGORITHMS = List.of("RSA", "EC", "EdDSA");
    private static final char[] NO_PASSWORD = new char[0];

    private TlsFiles() {}

    /** A context with the authorities, and the certificate and its key, where there are any. */
    public static SSLContext context(TlsOptions options) {
        KeyManager[] keys = keyManagers(options).orElse(null);
        TrustManager[] authorities = trustManagers(options).orElse(null);
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys, authorities, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw unusable(options, e);
        }
    }

    /** The judges of servers' certificates; empty for those of Java. */
    public static Optional<TrustManager[]> trustManagers(TlsOptions options) {
        return options.authorities().map(file -> {
            List<Certificate> certificates = certificates(file);
            try {
                KeyStore store = emptyStore();
                for (int i = 0; i < certificates.size(); i++) {
                    store.setCertificateEntry("authority" + i, certificates.get(i));
                }
                TrustManagerFactory factory =
                        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
                factory.init(store);
                return factory.getTrustManagers();
            } catch (GeneralSecurityException | IOException e) {
                throw unusable(options, e);
            }
        });
    }

    /** The certificate of this client and its key; empty for a client that shows none. */
    public static Optional<KeyManager[]> keyManagers(TlsOptions options) {
        return options.certificate().map(file -> {
            Certificate[] chain = certificates(file).toArray(Certificate[]::new);
            PrivateKey key = privateKey(options.key().orElseThrow());
            try {
                KeyStore store = emptyStore();
                store.setKeyEntry("client", key, NO_PASSWORD, chain);
                KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
                factory.init(store, NO_PASSWORD);
                return factory.getKeyManagers();
            } catch (GeneralSecurityException | IOException e) {
                throw unusable(options, e);
            }
        });
    }

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static List<Certificate> certificates(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            List<Certificate> found =
                    new ArrayList<>(CertificateFactory.getInstance("X.509").generateCertificates(in));
            if (found.isEmpty()) {
                throw noCertificate(file, Optional.empty());
            }
            return found;
        } catch (CertificateException e) {
            throw noCertificate(file, Optional.of(e));
        } catch (IOException e) {
            throw unreadable(file, "certificates", e);
        }
    }

    private static PrivateKey privateKey(Path file) {
        String text;
        try {
            text = Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw unreadable(file, "a private key", e);
        }
        int begin = text.indexOf(KEY_BEGIN);
        int end = text.indexOf(KEY_END);
        if (begin < 0 || end < begin) {
            throw noKey(file);
        }
        byte[] der = Base64.getMimeDecoder().decode(text.substring(begin + KEY_BEGIN.length(), end));
        for (String algorithm : KEY_ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
            } catch (InvalidKeySpecException e) {
                // A key of another algorithm.
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("this Java has no keys of " + algorithm, e);
            }
        }
        throw noKey(file);
    }

    private static IllegalArgumentException noCertificate(Path file, Optional<CertificateException> cause) {
        return new IllegalArgumentException(
                "'" + file
                        + "' has no certificate that Java can read: expected certificates in PEM format, each of which"
                        + " begins with " + CERTIFICATE_BEGIN,
                cause.orElse(null));
    }

    private static IllegalArgumentException noKey(Path file) {
        return new IllegalArgumentException("'" + file
                + "' has no private key that Java knows: expected an unencrypted one of PKCS 8 in PEM format, which"
                + " begins with "
                + KEY_BEGIN + "; 'openssl pkcs8 -topk8 -nocrypt' makes one of other formats");
    }

    private static IllegalArgumentException unreadable(Path file, String expected, IOException cause) {
        return new IllegalArgumentException(
                "cannot read '" + file + "': " + IoFailure.reason(cause) + "; expected a file with " + expected
                        + " in PEM format",
                cause);
    }

    private static IllegalArgumentException unusable(TlsOptions options, Exception cause) {
        return new IllegalArgumentException("TLS cannot be set up with " + options + ": " + cause, cause);
    }
}
