// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import java.time.Duration;
import java.util.Optional;

/**
 * Bytes under keys, for several servers: the response cache keeps there what models answered, so that every server
 * answers an equal request without its model. It may lose what it has at any time. Safe for any thread.
 */
public interface ResponseStore extends AutoCloseable {
    /** How much the cache asks of the store. */
    Limits limits();

    /**
     * The value that was put under {@code key} last; empty where there is none, or where it has more than
     * {@link Limits#valueByteSize} bytes. Blocks for a bounded time.
     *
     * @param key a SHA-256, of 32 bytes
     * @throws gatun.memory.tensor.GatunException when the store fails or takes too long
     */
    Optional<byte[]> get(byte[] key);

    /**
     * Puts {@code value} under {@code key}, in the place of one that was there. Blocks for a bounded time.
     *
     * @param key a SHA-256, of 32 bytes
     * @param value {@link Limits#valueByteSize} bytes at most
     * @throws gatun.memory.tensor.GatunException when the store fails or takes too long
     */
    void put(byte[] key, byte[] value);

    /** Ends the connections. Calls that go on may fail. May be called again. */
    @Override
    void close();

    /**
     * How much the cache asks of a store.
     *
     * @param calls how many calls go on at a time
     * @param patience how long a request waits until it is one of them, before the model answers in the store's place
     * @param valueByteSize the most bytes of one response; each call has three times as many on the heap
     */
    record Limits(int calls, Duration patience, int valueByteSize) {}
}
