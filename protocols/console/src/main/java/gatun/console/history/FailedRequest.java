// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

/**
 * Requests to a version that were not answered for one reason, with one text.
 *
 * @param atMillis the end of the last, in milliseconds since 1970
 * @param count how many there were since the first that is still kept
 * @param reason as in the metrics
 * @param code the kind of failure
 * @param text the client's message, or its beginning
 */
public record FailedRequest(long atMillis, long count, String reason, String code, String text) {
    boolean isLike(FailedRequest other) {
        return code.equals(other.code) && text.equals(other.text);
    }

    FailedRequest again(FailedRequest later) {
        return new FailedRequest(later.atMillis, count + later.count, reason, code, text);
    }
}
