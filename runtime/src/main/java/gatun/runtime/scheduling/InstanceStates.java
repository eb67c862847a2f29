// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.scheduling.InlineExecutor.InstanceOffers;
import java.util.Arrays;
import java.util.stream.IntStream;

/** The states of a model's instances, by number, idle at first. Guarded by the lock of their scheduler. */
final class InstanceStates {
    /** The state of an instance. */
    enum Activity {
        /** Does not take part yet. */
        OPENING,
        /** Sleeps until it is woken, or until its time as the watcher is over. */
        IDLE,
        /** Was woken, and will ask for something to run. */
        WAKING,
        /** Sleeps until its {@link RunPermit} has come. */
        STALLED,
        RUNNING,
        /** Runs a request on the thread that brought it; its own thread sleeps. */
        LENT,
        /** As {@link #LENT}, and ends when it is given back. */
        LENT_LAST,
        /** Ends as soon as it runs nothing and is awake. */
        LEAVING,
        /** Is gone; another may have its number. */
        ENDED
    }

    private Activity[] activities;

    /** How many instances take part. */
    private int presentCount;

    /** Idle instances, the first {@link #idleCount}; the last one became idle last, and its caches are warmest. */
    private int[] idle;

    private int idleCount;

    /** An idle instance that wakes by itself at {@link #watcherWakesAt}. */
    private int watcher = Dispatcher.NONE;

    private long watcherWakesAt;
    private int lentCount;
    private int stalledCount;
    private int comingCount;

    /** How many of these were woken only to keep the time, and may as well run something. */
    private int comingToWatchCount;

    InstanceStates(int count) {
        activities = new Activity[count];
        Arrays.fill(activities, Activity.IDLE);
        idle = IntStream.range(0, count).toArray();
        idleCount = count;
        presentCount = count;
    }

    Activity of(int instance) {
        return activities[instance];
    }

    boolean anyIdle() {
        return idleCount > 0;
    }

    boolean allIdle() {
        return idleCount == presentCount;
    }

    boolean anyComing() {
        return comingCount > 0;
    }

    boolean anyComingToWatch() {
        return comingToWatchCount > 0;
    }

    /** How many instances will come by themselves to what waits. */
    int awakeCount() {
        return presentCount - idleCount - lentCount - stalledCount;
    }

    /** How many instances run something, or are about to see whether there is something more. */
    int busyCount() {
        return awakeCount() + lentCount - comingCount;
    }

    boolean isWatched() {
        return watcher != Dispatcher.NONE;
    }

    /** Whether an idle instance wakes by itself before {@code nanos} are over. */
    boolean isWatchedWithin(long nanos, long now) {
        return isWatched() && watcherWakesAt - now <= nanos;
    }

    /** Makes an idle instance the one that wakes by itself after {@code nanos}. */
    void watch(int instance, long nanos, long now) {
        watcher = instance;
        watcherWakesAt = now + nanos;
    }

    /** Picks an idle instance that is to be woken: the watcher, since it wakes soon anyway, or the warmest. */
    int wakeOne() {
        int instance = isWatched() ? watcher : idle[idleCount - 1];
        wake(instance);
        return instance;
    }

    /** As {@link #wakeOne}, for an instance that is to keep the time of a batch that waits. */
    int wakeWatcher() {
        comingToWatchCount++;
        return wakeOne();
    }

    /** Has an instance that comes to keep the time run something instead. */
    void redirectWatcher() {
        comingToWatchCount--;
    }

    void wake(int instance) {
        leaveIdle(instance);
        activities[instance] = Activity.WAKING;
        comingCount++;
    }

    /** Notes that an instance, which may be in any state but {@link Activity#LENT}, is awake and runs nothing yet. */
    void arrive(int instance) {
        switch (activities[instance]) {
            case IDLE -> leaveIdle(instance);
            case WAKING -> {
                comingCount--;
                comingToWatchCount = Math.min(comingToWatchCount, comingCount);
            }
            case STALLED -> stalledCount--;
            case OPENING, RUNNING, LENT, LENT_LAST, LEAVING, ENDED -> {}
        }
        activities[instance] = Activity.RUNNING;
    }

    void rest(int instance) {
        activities[instance] = Activity.IDLE;
        idle[idleCount++] = instance;
    }

    /** Notes that an instance that has arrived must wait for its turn. */
    void stall(int instance) {
        activities[instance] = Activity.STALLED;
        stalledCount++;
    }

    /** An instance that waits for its turn, or {@link Dispatcher#NONE}. */
    int anyStalled() {
        for (int i = 0; stalledCount > 0 && i < activities.length; i++) {
            if (activities[i] == Activity.STALLED) {
                return i;
            }
        }
        return Dispatcher.NONE;
    }

    int lend() {
        int instance = idle[idleCount - 1];
        lend(instance);
        return instance;
    }

    void lend(int instance) {
        leaveIdle(instance);
        activities[instance] = Activity.LENT;
        lentCount++;
    }

    /** Puts idle instances on offer without the lock: they count as idle until they are recalled. */
    void offer(InstanceOffers offers) {
        for (int i = 0; i < activities.length; i++) {
            if (activities[i] == Activity.LENT) {
                lentCount--;
                rest(i);
                offers.release(i);
            } else if (activities[i] == Activity.IDLE) {
                offers.offer(i);
            }
        }
    }

    /** Takes a lent instance back; whether it goes on, and is idle then. */
    boolean giveBack(int instance) {
        if (activities[instance] == Activity.LENT_LAST) {
            activities[instance] = Activity.LEAVING;
            return false;
        }
        lentCount--;
        rest(instance);
        return true;
    }

    int reserve() {
        int number = 0;
        while (number < activities.length && activities[number] != Activity.ENDED) {
            number++;
        }
        if (number == activities.length) {
            activities = Arrays.copyOf(activities, number + 1);
            idle = Arrays.copyOf(idle, number + 1);
        }
        activities[number] = Activity.OPENING;
        return number;
    }

    /** Has an instance that is open take part; it is idle. */
    void admit(int instance) {
        presentCount++;
        rest(instance);
    }

    /** Has an instance, in whatever state, take part no more. */
    void retire(int instance) {
        switch (activities[instance]) {
            case OPENING -> activities[instance] = Activity.ENDED;
            case IDLE, WAKING, STALLED, RUNNING -> {
                arrive(instance);
                activities[instance] = Activity.LEAVING;
                presentCount--;
            }
            case LENT -> {
                lentCount--;
                activities[instance] = Activity.LENT_LAST;
                presentCount--;
            }
            case LENT_LAST, LEAVING, ENDED -> {}
        }
    }

    void end(int instance) {
        activities[instance] = Activity.ENDED;
    }

    private void leaveIdle(int instance) {
        int at = idleCount - 1;
        while (idle[at] != instance) {
            at--;
        }
        System.arraycopy(idle, at + 1, idle, at, idleCount - at - 1);
        idleCount--;
        if (watcher == instance) {
            watcher = Dispatcher.NONE;
        }
    }
}
