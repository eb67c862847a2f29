// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

/** Why a request was not answered, as the metrics tell failures apart. */
public enum FailureReason {
    /** The queue refused it or it waited there too long. */
    REJECTED,
    /** The client gave it up. */
    CANCELED,
    /** The engine failed it. */
    BACKEND,
    /** Anything else: mostly a request that is wrong. */
    OTHER
}
