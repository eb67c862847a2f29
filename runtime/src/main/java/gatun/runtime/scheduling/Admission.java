// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

/** The result of submitting a ticket to a scheduler. */
public enum Admission {
    /** The scheduler owns the ticket and brings it to an end, unless its waiter withdraws it. */
    ACCEPTED,
    /** Too many wait already; the caller still owns the ticket. */
    QUEUE_FULL,
    /** The scheduler takes no more; the caller still owns the ticket. */
    STOPPING,
    /** It is the step of a sequence that has not begun, or is over; the caller still owns the ticket. */
    NO_SEQUENCE
}
