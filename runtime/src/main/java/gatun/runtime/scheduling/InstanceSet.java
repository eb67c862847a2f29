// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

/**
 * The instances that decisions are made about, while they come and go. Instances are numbers from 0; the number of one
 * that has ended may be given to another. Guarded by the scheduler's lock.
 */
interface InstanceSet {
    /**
     * The number of an instance that is to open, and is given nothing yet; {@link Dispatcher#NONE} when the scheduler
     * stops.
     */
    int reserve();

    /** Has an instance that was reserved, and is open, take part from now on. It is then to be woken. */
    void admit(int instance, long now);

    /**
     * Gives an instance nothing new from now on. It is then to be woken; it ends when it has finished what only it can
     * do. One that was reserved and not admitted ends at once.
     */
    void retire(int instance, long now);
}
