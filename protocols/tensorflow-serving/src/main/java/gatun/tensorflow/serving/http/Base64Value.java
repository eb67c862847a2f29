// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.json.JsonKind;
import gatun.http.json.JsonReader;

/** Bytes in JSON: an object whose only member is a string, {@code b64}. */
final class Base64Value {
    private static final String NAME = "b64";

    /** The result of {@link #find} for any other object. */
    static final long NONE = -1;

    private Base64Value() {}

    /** Reads over the object that {@code json} stands at; returns where its string begins, or {@link #NONE}. */
    static long find(JsonReader json) {
        long string = NONE;
        long members = 0;
        json.enterObject("");
        while (json.nextMember()) {
            if (json.nameIs(NAME) && json.peek() == JsonKind.STRING) {
                string = json.position();
            }
            json.skipValue();
            members++;
        }
        return members == 1 ? string : NONE;
    }

    /** Whether {@code json} stands at an object that is not Base64; it stands there afterwards too. */
    static boolean isOtherObject(JsonReader json) {
        return json.peek() == JsonKind.OBJECT && !json.isObjectOf(NAME);
    }
}
