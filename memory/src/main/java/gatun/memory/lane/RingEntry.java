// SPDX-License-Identifier: Apache-2.0
package gatun.memory.lane;

/** A submission: slot, action and request, so that late ones hit no later request. 0 is none. */
public final class RingEntry {
    /** Command: infer what the slot says. */
    public static final int INFER = 1;
    /** Command: give the next answer; the last one was read. */
    public static final int CONTINUE = 2;
    /** Command: give the request up. */
    public static final int CANCEL = 3;

    private static final int SLOT_BITS = 10;
    private static final int COMMAND_BITS = 2;
    private static final int TURN_SHIFT = SLOT_BITS + COMMAND_BITS;

    /** How many requests of a slot can be told apart. */
    public static final int TURNS = 1 << (Integer.SIZE - TURN_SHIFT);

    private RingEntry() {}

    /** An entry; of {@code turn}, the number of the slot's request, the lowest bits count. */
    public static int of(int slot, int command, int turn) {
        return turn << TURN_SHIFT | command << SLOT_BITS | slot;
    }

    /** The slot, which may be none of the lane's. */
    public static int slot(int entry) {
        return entry & (1 << SLOT_BITS) - 1;
    }

    /** The command; 0 in no entry that a client means. */
    public static int command(int entry) {
        return entry >>> SLOT_BITS & (1 << COMMAND_BITS) - 1;
    }

    /** Which of the slot's requests is meant. */
    public static int turn(int entry) {
        return entry >>> TURN_SHIFT;
    }
}
