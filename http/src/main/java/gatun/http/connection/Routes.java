// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

/** Answers requests whose paths it knows; of several for the same beginning, the first that does. Thread-safe. */
@FunctionalInterface
public interface Routes {
    /** Answers a request whose path it knows; whether it did. A GatunException is answered as the failure it is. */
    boolean answer(Exchange exchange);

    /** Answers a request whose path nobody knows and begins with {@link #root}; otherwise as {@link #answer}. */
    default boolean answerUnknownPath(Exchange exchange) {
        return false;
    }

    /** The beginning of the paths that it answers even if nobody knows them; of several, the longest counts. */
    default String root() {
        return "";
    }
}
