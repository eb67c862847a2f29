// SPDX-License-Identifier: Apache-2.0
package gatun.client.lane;

/** A request that a server has prepared. Safe for any thread. */
final class PreparedNumber {
    private final int number;
    private volatile boolean dropped;

    /** @param number its number in the lane; the server gives no number twice */
    PreparedNumber(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    /** The server is about to be told to forget it. */
    void drop() {
        dropped = true;
    }

    /** Whether the server may have forgotten it. */
    boolean isDropped() {
        return dropped;
    }
}
