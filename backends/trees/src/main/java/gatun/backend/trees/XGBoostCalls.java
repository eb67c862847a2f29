// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.bindings.NativeMemory;
import gatun.bindings.xgboost.xgboost_h;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.util.regex.Pattern;

/** The one translator of XGBoost's errors. */
final class XGBoostCalls {
    /** Texts begin with a time and a place in the library's source, and end with the addresses of its functions. */
    private static final Pattern PLACE = Pattern.compile("^(\\[\\d\\d:\\d\\d:\\d\\d\\] )?\\S+:\\d+: ");

    private static final String STACK = "Stack trace:";

    private XGBoostCalls() {}

    /**
     * Looks at what a call returned, in the thread that made it.
     *
     * @param code the kind of failure, if it is one
     * @param what what failed, the beginning of the message
     * @throws GatunException with the library's text
     */
    static void check(int returned, ErrorCode code, String what) {
        if (returned != 0) {
            throw new GatunException(code, what + ": " + text(NativeMemory.string(xgboost_h.XGBGetLastError())));
        }
    }

    /** What a text of the library says, in one line. */
    static String text(String said) {
        int stack = said.indexOf(STACK);
        String own = stack < 0 ? said : said.substring(0, stack);
        return PLACE.matcher(own.strip()).replaceFirst("").replaceAll("\\s+", " ");
    }
}
