// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.calls.ResponseBuffer;
import gatun.memory.tensor.TensorSpec;
import java.util.List;
import java.util.Map;

/**
 * The fields of a response's JSON. Outputs behind it have {@code binaryByteSize} bytes, and {@code memoryByteSize} when
 * each is aligned. Immutable.
 */
record InferLayout(
        String model,
        String version,
        String id,
        Map<String, Object> parameters,
        List<Output> outputs,
        long binaryByteSize,
        long memoryByteSize) {
    sealed interface Output {
        TensorSpec spec();
    }

    /** An output whose bytes follow the JSON; {@code offset} is where they go in the response's memory. */
    record Binary(TensorSpec spec, long offset, long byteSize) implements Output {}

    /** An output without data: it is in a region, or it has no elements. */
    record Absent(TensorSpec spec) implements Output {}

    /** An output from JSON: the first {@code byteSize} bytes of {@code elements}. */
    record Parsed(TensorSpec spec, ResponseBuffer elements, long byteSize) implements Output {}

    /** Whether it says the same of any response with that JSON. */
    boolean isLasting() {
        for (Output output : outputs) {
            if (output instanceof Parsed) {
                return false;
            }
        }
        return true;
    }

    static void close(List<Output> outputs) {
        for (Output output : outputs) {
            if (output instanceof Parsed parsed) {
                parsed.elements().close();
            }
        }
    }
}
