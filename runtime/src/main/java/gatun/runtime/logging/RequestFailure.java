// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

import gatun.memory.tensor.ErrorCode;

/** The kind of an inference's failure, and the message for the client, which may be long. */
public record RequestFailure(ErrorCode code, String text) {}
