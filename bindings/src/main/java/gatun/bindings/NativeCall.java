// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

/** Failures of method handles to native functions. */
final class NativeCall {
    private NativeCall() {}

    /**
     * Throws what a method handle threw: an unchecked exception or error as it is. Handles to native functions throw
     * nothing else; anything else means that one was called with the wrong types.
     */
    static RuntimeException unexpected(Throwable thrown) {
        if (thrown instanceof RuntimeException e) {
            throw e;
        }
        if (thrown instanceof Error e) {
            throw e;
        }
        throw new AssertionError("a method handle does not fit its call", thrown);
    }
}
