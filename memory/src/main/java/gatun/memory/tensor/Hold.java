// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

/**
 * A claim on memory that keeps it valid: a pooled buffer or a {@link RegionLease}. Whoever holds it closes it
 * exactly once, from any thread; the memory may be reused or unmapped from then on.
 */
public interface Hold extends AutoCloseable {
    /** Gives the memory back. Never throws and never blocks. */
    @Override
    void close();
}
