// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

/**
 * The processor time and memory that the client's own process spent.
 *
 * @param workerHeapBytes allocated on the heap by the workers' threads
 * @param heapBytes allocated on the heap by all threads
 * @param processorNanos processor time of the process, of the kernel on its behalf included
 */
public record ClientCost(long workerHeapBytes, long heapBytes, long processorNanos) {
    /** Nothing. */
    public static final ClientCost NONE = new ClientCost(0, 0, 0);

    /** The cost since {@code earlier}. */
    public ClientCost since(ClientCost earlier) {
        return new ClientCost(
                workerHeapBytes - earlier.workerHeapBytes,
                heapBytes - earlier.heapBytes,
                processorNanos - earlier.processorNanos);
    }

    /** The sum of both. */
    public ClientCost plus(ClientCost other) {
        return new ClientCost(
                workerHeapBytes + other.workerHeapBytes,
                heapBytes + other.heapBytes,
                processorNanos + other.processorNanos);
    }
}
