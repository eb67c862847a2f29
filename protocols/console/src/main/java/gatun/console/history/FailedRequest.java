// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

/**
 * A request that was not answered: its end in milliseconds since 1970, the reason as in the metrics, the kind of
 * failure, and the client's message, or its beginning.
 */
public record FailedRequest(long atMillis, String reason, String code, String text) {}
