// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

/**
 * A native library refused or failed. Its message is the library's own; the library's error object is already freed.
 */
public final class NativeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final NativeCode code;

    /** For a failure that the library calls {@code code} and explains by {@code message}. */
    public NativeException(NativeCode code, String message) {
        super(message);
        this.code = code;
    }

    /** The kind of failure. */
    public NativeCode code() {
        return code;
    }
}
