// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

/** Says that a server cannot be put under the load that was asked for: the text says why, and what to do. */
public final class TargetException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** A failure with its cause. */
    public TargetException(String message, Throwable cause) {
        super(message, cause);
    }

    /** A failure that nothing else caused. */
    public TargetException(String message) {
        super(message);
    }
}
