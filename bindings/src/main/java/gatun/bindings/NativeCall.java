// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

/** Failures of method handles to native functions. */
public final class NativeCall {
    private NativeCall() {}

    /** Throws a method handle's failure. Native handles throw unchecked ones only, unless called with wrong types. */
    public static RuntimeException unexpected(Throwable thrown) {
        if (thrown instanceof RuntimeException e) {
            throw e;
        }
        if (thrown instanceof Error e) {
            throw e;
        }
        throw new AssertionError("a method handle does not fit its call", thrown);
    }
}
