// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

/**
 * A request that was not answered.
 *
 * @param atMillis when it ended, in milliseconds since 1970
 * @param reason as the metrics tell failures apart
 * @param code the kind of the failure
 * @param text the message that the client got, or its beginning
 */
public record FailedRequest(long atMillis, String reason, String code, String text) {}
