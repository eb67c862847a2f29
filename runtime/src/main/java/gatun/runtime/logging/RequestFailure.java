// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

import gatun.memory.tensor.ErrorCode;

/**
 * Why an inference failed.
 *
 * @param code the kind of the failure
 * @param text the message for the client, which may be long
 */
public record RequestFailure(ErrorCode code, String text) {}
