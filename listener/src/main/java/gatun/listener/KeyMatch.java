// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;

/** Checks whether a private key belongs to a certificate: the certificate must verify a signature made with the key. */
final class KeyMatch {
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
