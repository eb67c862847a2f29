// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.io.ByteArrayOutputStream;
import java.security.KeyFactory;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.List;

/**
 * Reads private keys: PKCS#8, and the older forms of RSA (PKCS#1) and EC (SEC 1), which are put into PKCS#8's envelope.
 */
final class PrivateKeys {
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

    /**
     * The first private key of {@code file}.
     *
     * @throws TlsException when there is none that can be read
     */
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
        return element(SEQUENCE, concat(VERSION_0, concat(element(SEQUENCE, algorithm), element(OCTET_STRING, key))));
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
