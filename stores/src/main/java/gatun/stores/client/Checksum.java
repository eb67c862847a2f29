// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/** A checksum of a file's bytes, in hexadecimal. */
public record Checksum(Algorithm algorithm, String hex) {
    /** The longest is SHA-256, with 44. */
    private static final int BASE64_CHARACTERS = 64;

    /** How a checksum is computed. */
    public enum Algorithm {
        /** MD5. */
        MD5("MD5"),
        /** SHA-1. */
        SHA1("SHA-1"),
        /** SHA-256. */
        SHA256("SHA-256"),
        /** CRC-32 as in zip files. */
        CRC32("CRC-32"),
        /** CRC-32 of Castagnoli. */
        CRC32C("CRC-32C");

        private final String title;

        Algorithm(String title) {
            this.title = title;
        }
    }

    /** A checksum that a store writes in Base64; empty where that is none. */
    public static Optional<Checksum> ofBase64(Algorithm algorithm, String text) {
        if (text.length() > BASE64_CHARACTERS) {
            return Optional.empty();
        }
        try {
            return Optional.of(new Checksum(
                    algorithm, HexFormat.of().formatHex(Base64.getDecoder().decode(text))));
        } catch (IllegalArgumentException e) {
            // Such as those of parts, which end with their number.
            return Optional.empty();
        }
    }

    /** The checksum of a file. */
    public static Checksum of(Algorithm algorithm, Path file) throws IOException {
        return new Checksum(algorithm, HexFormat.of().formatHex(compute(algorithm, file)));
    }

    private static byte[] compute(Algorithm algorithm, Path file) throws IOException {
        try (InputStream content = Files.newInputStream(file)) {
            byte[] buffer = new byte[1 << 16];
            if (algorithm == Algorithm.CRC32 || algorithm == Algorithm.CRC32C) {
                java.util.zip.Checksum crc = algorithm == Algorithm.CRC32 ? new CRC32() : new CRC32C();
                for (int n = content.read(buffer); n >= 0; n = content.read(buffer)) {
                    crc.update(buffer, 0, n);
                }
                return ByteBuffer.allocate(4).putInt((int) crc.getValue()).array();
            }
            MessageDigest digest = MessageDigest.getInstance(algorithm.title);
            for (int n = content.read(buffer); n >= 0; n = content.read(buffer)) {
                digest.update(buffer, 0, n);
            }
            return digest.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has " + algorithm.title, e);
        }
    }

    /** Throws {@link StoreException} MALFORMED, with the given name, when the file has another checksum. */
    public void require(Path file, String name) throws IOException {
        Checksum actual = of(algorithm, file);
        if (!actual.hex.equals(hex)) {
            throw new StoreException(
                    StoreException.Kind.MALFORMED,
                    "'" + name + "' arrived damaged: its " + algorithm.title + " is " + actual.hex
                            + ", and the store says " + hex);
        }
    }
}
