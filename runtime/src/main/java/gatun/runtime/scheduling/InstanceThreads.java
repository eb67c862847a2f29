package gatun.runtime.scheduling;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The threads of a scheduler, one for each instance of its model. Safe for any thread.
 *
 * @param <T> what they run
 */
final class InstanceThreads<T extends Ticket> {
    private final List<InstanceThread<T>> threads;
    private final boolean takeTurns;

    /**
     * Threads that have not started.
     *
     * @param workers at least one
     * @param loop the life of each: runs tickets until the scheduler ends
     */
    InstanceThreads(List<? extends Worker<T>> workers, Consumer<InstanceThread<T>> loop) {
        takeTurns = workers.stream().anyMatch(worker -> worker.turn().isPresent());
        threads = new ArrayList<>(workers.size());
        for (int i = 0; i < workers.size(); i++) {
            threads.add(new InstanceThread<>(i, workers.get(i), loop));
        }
    }

    /** Starts all and waits until their workers have opened. Throws the failure of the first that has not; the others are open then. */
    void open() {
        threads.forEach(InstanceThread::start);
        threads.forEach(InstanceThread::awaitOpen);
    }

    InstanceThread<T> get(int instance) {
        return threads.get(instance);
    }

    /** What the instances have to wait for. */
    Turns turns() {
        return takeTurns ? new ThreadTurns() : Turns.UNLIMITED;
    }

    /** The turns of the instances; those whose turn comes are woken. */
    private final class ThreadTurns implements Turns {
        @Override
        public boolean ask(int instance) {
            return threads.get(instance).askForTurn();
        }

        @Override
        public void decline(int instance) {
            threads.get(instance).declineTurn();
        }
    }

    /** Wakes an instance's thread, unless it is {@link Dispatcher#NONE}. */
    void wake(int instance) {
        if (instance != Dispatcher.NONE) {
            threads.get(instance).wake();
        }
    }

    void wakeAll() {
        threads.forEach(InstanceThread::wake);
    }

    /** Waits for all threads to end; whether they have. */
    boolean join(Duration grace) {
        long deadline = System.nanoTime() + grace.toNanos();
        boolean ended = true;
        for (InstanceThread<T> thread : threads) {
            ended &= thread.join(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
        }
        return ended;
    }
}
