// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

/** Answers requests whose paths it knows; of several for the same beginning, the first that does. Thread-safe. */
@FunctionalInterface
public interface Routes {
    /**
     * Answers a request whose path it knows.
     *
     * @return whether it was answered
     * @throws gatun.memory.tensor.GatunException to be answered as the failure it is
     */
    boolean answer(Exchange exchange);

    /**
     * Answers a request whose path nobody knows, where the path begins with {@link #root}.
     *
     * @return whether it was answered
     * @throws gatun.memory.tensor.GatunException to be answered as the failure it is
     */
    default boolean answerUnknownPath(Exchange exchange) {
        return false;
    }

    /** The beginning of the paths that it answers even if nobody knows them; of several, the longest counts. */
    default String root() {
        return "";
    }
}
