// SPDX-License-Identifier: Apache-2.0
package gatun.lane;

/** Whose turn it is with a slot. The server writes these and believes none of them. */
public final class SlotState {
    /** The client's: nothing is under way. */
    public static final int FREE = 0;
    /** The server's: it has a request, or was told to go on. */
    public static final int FILLED = 1;
    /** The client's: the last answer is there. */
    public static final int DONE = 2;
    /** The client's: an answer is there, and more may follow when it says so. */
    public static final int MORE = 3;
    /** The client's: the connection to the server ended before an answer. Only the client writes it. */
    public static final int LOST = 4;

    private SlotState() {}
}
