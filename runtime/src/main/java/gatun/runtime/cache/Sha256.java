// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import gatun.runtime.cache.RequestDigest.RequestHash;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256, for hashes that servers agree on, and that nobody can make collide. Used once, by one thread. */
final class Sha256 implements RequestHash {
    static final int BYTE_SIZE = 32;

    /** As much as one view of a segment may show. */
    private static final long CHUNK = 1L << 30;

    private final MessageDigest digest;
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);

    Sha256() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    @Override
    public void add(long word) {
        digest.update(number.putLong(0, word).array());
    }

    @Override
    public void add(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        add(bytes.length);
        digest.update(bytes);
    }

    @Override
    public void add(MemorySegment bytes) {
        long size = bytes.byteSize();
        add(size);
        for (long at = 0; at < size; at += CHUNK) {
            digest.update(bytes.asSlice(at, Math.min(CHUNK, size - at)).asByteBuffer());
        }
    }

    /** Adds bytes without their number. */
    void add(ByteBuffer bytes) {
        digest.update(bytes);
    }

    /** Ends the message; its hash, of {@value #BYTE_SIZE} bytes. */
    byte[] digest() {
        return digest.digest();
    }
}
