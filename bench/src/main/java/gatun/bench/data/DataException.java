// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

/** Says that data cannot be sent, or cannot be expected: the text says where, what was found, and what was expected. */
public final class DataException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** A failure with its text. */
    public DataException(String message) {
        super(message);
    }
}
