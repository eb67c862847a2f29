// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import gatun.memory.tensor.ElementLayouts;
import gatun.runtime.cache.RequestDigest.RequestHash;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * SipHash-2-4 of 128 bits, over whole 64-bit words. Without the key, equal results are found only by trial: among n
 * messages with a probability of about n&sup2; / 2<sup>129</sup>. Used once, by one thread.
 */
final class SipHash implements RequestHash {
    private long v0;
    private long v1;
    private long v2;
    private long v3;
    private long byteCount;

    /** A hash of nothing yet, with a key of 128 bits. */
    SipHash(long lowKey, long highKey) {
        v0 = lowKey ^ 0x736f6d6570736575L;
        v1 = highKey ^ 0x646f72616e646f6dL ^ 0xee;
        v2 = lowKey ^ 0x6c7967656e657261L;
        v3 = highKey ^ 0x7465646279746573L;
    }

    @Override
    public void add(long word) {
        v3 ^= word;
        round();
        round();
        v0 ^= word;
        byteCount += Long.BYTES;
    }

    @Override
    public void add(String text) {
        add(MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8)));
    }

    @Override
    public void add(MemorySegment bytes) {
        long size = bytes.byteSize();
        add(size);
        long whole = size & -Long.BYTES;
        addWords(bytes, whole);
        if (whole < size) {
            long last = 0;
            for (long i = size - 1; i >= whole; i--) {
                last = last << Byte.SIZE | Byte.toUnsignedLong(bytes.get(ValueLayout.JAVA_BYTE, i));
            }
            add(last);
        }
    }

    /** The same as {@link #add(long)} for each word, in variables that stay in registers. */
    private void addWords(MemorySegment bytes, long byteSize) {
        long a = v0;
        long b = v1;
        long c = v2;
        long d = v3;
        for (long at = 0; at < byteSize; at += Long.BYTES) {
            long word = bytes.get(ElementLayouts.INT64, at);
            d ^= word;
            for (int i = 0; i < 2; i++) {
                a += b;
                b = Long.rotateLeft(b, 13) ^ a;
                a = Long.rotateLeft(a, 32);
                c += d;
                d = Long.rotateLeft(d, 16) ^ c;
                a += d;
                d = Long.rotateLeft(d, 21) ^ a;
                c += b;
                b = Long.rotateLeft(b, 17) ^ c;
                c = Long.rotateLeft(c, 32);
            }
            a ^= word;
        }
        v0 = a;
        v1 = b;
        v2 = c;
        v3 = d;
        byteCount += byteSize;
    }

    private void round() {
        v0 += v1;
        v1 = Long.rotateLeft(v1, 13) ^ v0;
        v0 = Long.rotateLeft(v0, 32);
        v2 += v3;
        v3 = Long.rotateLeft(v3, 16) ^ v2;
        v0 += v3;
        v3 = Long.rotateLeft(v3, 21) ^ v0;
        v2 += v1;
        v1 = Long.rotateLeft(v1, 17) ^ v2;
        v2 = Long.rotateLeft(v2, 32);
    }

    /** Ends the message; its hash. */
    Digest digest() {
        add(byteCount << 56);
        v2 ^= 0xee;
        long low = finish();
        v1 ^= 0xdd;
        return new Digest(low, finish());
    }

    private long finish() {
        round();
        round();
        round();
        round();
        return v0 ^ v1 ^ v2 ^ v3;
    }

    /** 128 bits that stand for a message. */
    record Digest(long low, long high) {}
}
