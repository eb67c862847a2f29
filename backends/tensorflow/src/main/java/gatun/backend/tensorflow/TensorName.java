// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.memory.tensor.GatunException;

/** A tensor's name in graphs: {@code operation:output}, without {@code :0}, or {@code ^} for control. */
final class TensorName {
    private TensorName() {}

    static String operation(String tensor) {
        int from = tensor.startsWith("^") ? 1 : 0;
        int colon = tensor.lastIndexOf(':');
        return tensor.substring(from, colon < 0 ? tensor.length() : colon);
    }

    /** The number of the operation's output. Throws {@link GatunException} INVALID_ARGUMENT for another text. */
    static int index(String tensor) {
        int colon = tensor.lastIndexOf(':');
        if (colon < 0) {
            return 0;
        }
        try {
            return Integer.parseUnsignedInt(tensor, colon + 1, tensor.length(), 10);
        } catch (NumberFormatException e) {
            throw GatunException.invalidArgument("a signature names the tensor '" + tensor
                    + "', where the name of an operation, a colon and a number are expected");
        }
    }
}
