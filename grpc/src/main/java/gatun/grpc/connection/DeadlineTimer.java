package gatun.grpc.connection;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/** The one thread that looks after the deadlines of a listener's calls. */
final class DeadlineTimer {
    private DeadlineTimer() {}

    /** A timer whose cancelled tasks are forgotten at once, since nearly all deadlines are never reached. */
    static ScheduledExecutorService start() {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().name("grpc-deadlines").daemon(true).factory());
        timer.setRemoveOnCancelPolicy(true);
        return timer;
    }
}
