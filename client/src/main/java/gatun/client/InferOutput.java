// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/** An output that a request wants. */
public sealed interface InferOutput {
    /** Its name in the model. */
    String name();

    /** An output that travels with the response. */
    record Sent(String name) implements InferOutput {}

    /**
     * The best classes of an output instead of its values, as a BYTES tensor of {@code value:index[:label]}.
     *
     * @param count how many; at least 1
     */
    record Classes(String name, int count) implements InferOutput {}

    /**
     * An output that the server writes to a registered region.
     *
     * @param region the region's name at the server
     * @param offset where it goes there, in bytes
     * @param byteSize how much room there is
     */
    record InRegion(String name, String region, long offset, long byteSize) implements InferOutput {}
}
