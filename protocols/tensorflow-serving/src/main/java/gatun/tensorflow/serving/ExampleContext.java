// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;

/** The context that all examples of a request share, and that is put before each of them. */
public final class ExampleContext {
    /** The most bytes that its copies may have: a short request must not take the memory of the others. */
    static final long MAX_COPIES_BYTES = 64L << 20;

    private ExampleContext() {}

    /** Throws RESOURCE_EXHAUSTED, naming the limit, for a context too long to be copied for so many examples. */
    public static void requireCopies(long byteSize, long examples) {
        if (byteSize > 0 && examples > MAX_COPIES_BYTES / byteSize) {
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    "the context has " + byteSize + " bytes and goes before each of " + examples
                            + " examples, which makes more than the limit of " + MAX_COPIES_BYTES
                            + "; send fewer examples in a request, or put what they share into the model");
        }
    }
}
