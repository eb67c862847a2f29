// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
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

    /** This end's certificate and key. Throws TlsException naming the flag of the file that cannot be used. */
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

    /** The authorities that the other end is checked against. Throws TlsException when the file cannot be used. */
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

    /** Checks whether a private key belongs to a certificate: the certificate must verify a signature made with the key. */
    static final class KeyMatch {
        private static final byte[] ANYTHING = {1, 2, 3};

        private KeyMatch() {}

        /** Whether {@code key} belongs to {@code certificate}; both are of one algorithm. */
        static boolean proves(Certificate certificate, PrivateKey key) throws GeneralSecurityException {
            String algorithm =
                    switch (key.getAlgorithm()) {
                        case "RSA" -> "SHA256withRSA";
                        case "EC" -> "SHA256withECDSA";
                        default -> key.getAlgorithm();
                    };
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            signature.update(ANYTHING);
            byte[] signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(ANYTHING);
            return signature.verify(signed);
        }
    }

    /** Reads private keys: PKCS#8, and PKCS#1 (RSA) and SEC 1 (EC), which are put into PKCS#8's envelope. */
    static final class PrivateKeys {
        private static final String EXPECTED =
                "a private key in PEM format without a password: PKCS#8 (BEGIN PRIVATE KEY), PKCS#1 (BEGIN RSA PRIVATE KEY)"
                        + " or SEC 1 (BEGIN EC PRIVATE KEY)";

        private static final List<String> ALGORITHMS = List.of("RSA", "EC", "EdDSA");

        // Tags of ASN.1.
        private static final int INTEGER = 0x02;
        private static final int OCTET_STRING = 0x04;
        private static final int SEQUENCE = 0x30;
        private static final int PARAMETERS = 0xa0;

        private static final int LONG_LENGTH = 0x80;
        private static final int BYTE_MASK = 0xff;

        private static final byte[] VERSION_0 = {INTEGER, 1, 0};

        /** rsaEncryption without parameters: 1.2.840.113549.1.1.1, NULL. */
        private static final byte[] RSA = {
            0x06, 0x09, 0x2a, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00
        };

        /** ecPublicKey: 1.2.840.10045.2.1; the curve follows. */
        private static final byte[] EC = {0x06, 0x07, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 0x02, 0x01};

        private PrivateKeys() {}

        /** The first private key of {@code file}. Throws {@link TlsException} when there is none that can be read. */
        static PrivateKey read(PemFile file) {
            for (PemFile.Block block : file.blocks()) {
                switch (block.label()) {
                    case "PRIVATE KEY" -> {
                        return key(file, block.der());
                    }
                    case "RSA PRIVATE KEY" -> {
                        return key(file, envelope(RSA, block.der()));
                    }
                    case "EC PRIVATE KEY" -> {
                        return key(file, envelope(concat(EC, curve(file, block.der())), block.der()));
                    }
                    case "ENCRYPTED PRIVATE KEY" ->
                        throw file.wrong("the private key in it is encrypted; expected " + EXPECTED);
                    default -> {
                        // Certificates and curve names often stand in front.
                    }
                }
            }
            throw file.wrong("there is no private key in it; expected " + EXPECTED);
        }

        private static PrivateKey key(PemFile file, byte[] pkcs8) {
            PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(pkcs8);
            for (String algorithm : ALGORITHMS) {
                try {
                    return KeyFactory.getInstance(algorithm).generatePrivate(spec);
                } catch (InvalidKeySpecException | NoSuchAlgorithmException e) {
                    // A key of another algorithm, or a damaged one: reported when no other key is left.
                }
            }
            throw file.wrong("the private key in it cannot be read, or is encrypted; expected " + EXPECTED);
        }

        private static byte[] envelope(byte[] algorithm, byte[] key) {
            return element(
                    SEQUENCE, concat(VERSION_0, concat(element(SEQUENCE, algorithm), element(OCTET_STRING, key))));
        }

        /** The curve that a key in SEC 1's form names: version, number, and then the parameters. */
        private static byte[] curve(PemFile file, byte[] key) {
            try {
                int at = contentOffset(key, 0);
                while (at < key.length) {
                    int content = contentOffset(key, at);
                    int end = content + length(key, at);
                    if ((key[at] & BYTE_MASK) == PARAMETERS) {
                        return Arrays.copyOfRange(key, content, end);
                    }
                    at = end;
                }
            } catch (IndexOutOfBoundsException e) {
                throw file.wrong("the private key in it is damaged", e);
            }
            throw file.wrong("the EC private key in it does not name its curve; expected a key that does, or PKCS#8");
        }

        private static int length(byte[] der, int at) {
            int first = der[at + 1] & BYTE_MASK;
            if (first < LONG_LENGTH) {
                return first;
            }
            int length = 0;
            for (int i = 0; i < first - LONG_LENGTH; i++) {
                length = Math.addExact(length << Byte.SIZE & Integer.MAX_VALUE, der[at + 2 + i] & BYTE_MASK);
            }
            return length;
        }

        private static int contentOffset(byte[] der, int at) {
            int first = der[at + 1] & BYTE_MASK;
            return at + 2 + (first < LONG_LENGTH ? 0 : first - LONG_LENGTH);
        }

        private static byte[] element(int tag, byte[] content) {
            ByteArrayOutputStream element = new ByteArrayOutputStream();
            element.write(tag);
            if (content.length < LONG_LENGTH) {
                element.write(content.length);
            } else {
                element.write(LONG_LENGTH + 2);
                element.write(content.length >>> Byte.SIZE);
                element.write(content.length);
            }
            element.writeBytes(content);
            return element.toByteArray();
        }

        private static byte[] concat(byte[] first, byte[] second) {
            byte[] both = Arrays.copyOf(first, first.length + second.length);
            System.arraycopy(second, 0, both, first.length, second.length);
            return both;
        }
    }
}
