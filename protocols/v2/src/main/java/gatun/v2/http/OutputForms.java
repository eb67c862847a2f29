// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import java.util.Arrays;

/** The form of each output: beside the JSON or in it. For one request at a time, not thread-safe. */
final class OutputForms {
    private static final int FEW = 4;

    private boolean[] binary = new boolean[FEW];
    private int listedCount;
    private boolean binaryByDefault;

    /** Forgets the outputs, for another request. */
    void clear() {
        if (binary.length > FEW) {
            binary = new boolean[FEW];
        }
        listedCount = 0;
        binaryByDefault = false;
    }

    /** Sets the form of outputs of a request that lists none. */
    void binaryByDefault(boolean enabled) {
        binaryByDefault = enabled;
    }

    /** Adds the form of the next output that the request lists. */
    void list(boolean asBinary) {
        if (listedCount == binary.length) {
            binary = Arrays.copyOf(binary, 2 * listedCount);
        }
        binary[listedCount++] = asBinary;
    }

    /** Whether output {@code index} of the response, in the order that was listed, is answered as bytes. */
    boolean isBinary(int index) {
        return index < listedCount ? binary[index] : listedCount == 0 && binaryByDefault;
    }
}
