// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import gatun.memory.tensor.GatunException;

/** The failures of a document that is JSON, but not the expected one, in the words that clients know. */
public final class JsonFailure {
    private JsonFailure() {}

    static GatunException wrongType(String failing, String expected) {
        String as = expected.equals("number") ? "double" : expected;
        return failed(failing, "attempt to access JSON non-" + expected + " as " + as);
    }

    /** The failure of an object that lacks {@code member}. */
    public static GatunException missingMember(String failing, String member) {
        return failed(failing, "attempt to access non-existing object member '" + member + "'");
    }

    /** The failure of arrays or objects nested deeper than {@code limit}. */
    public static GatunException tooDeep(int limit) {
        return GatunException.invalidArgument("JSON nesting depth exceeds maximum allowed limit (" + limit + ")");
    }

    private static GatunException failed(String failing, String reason) {
        return GatunException.invalidArgument(failing.isEmpty() ? reason : failing + ": " + reason);
    }
}
