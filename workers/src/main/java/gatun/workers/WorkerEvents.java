// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.time.Duration;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** Worker processes in flight recordings, without their output, which may be anything. Thread-safe. */
@SuppressWarnings("UnusedVariable") // recordings read the fields
final class WorkerEvents {
    /** The most characters of a text that an event keeps. */
    private static final int TEXT_LIMIT = 256;

    private WorkerEvents() {}

    /** A process was started; it does not serve yet. */
    static void started(String worker, long pid) {
        Started event = new Started();
        if (event.shouldCommit()) {
            event.worker = worker;
            event.pid = pid;
            event.commit();
        }
    }

    /** A process has ended {@code lifetime} after its start. */
    static void ended(String worker, long pid, WorkerEnd.Reason reason, String how, Duration lifetime) {
        Ended event = new Ended();
        if (event.shouldCommit()) {
            event.worker = worker;
            event.pid = pid;
            event.reason = reason.label();
            event.how = how.length() <= TEXT_LIMIT ? how : how.substring(0, TEXT_LIMIT) + "...";
            event.lifetime = lifetime.toMillis();
            event.commit();
        }
    }

    /** A process begins to be started in the place of one that has died. */
    static Restarted restarting(String worker) {
        Restarted event = new Restarted();
        event.worker = worker;
        event.begin();
        return event;
    }

    @Name("gatun.WorkerStarted")
    @Label("Worker Started")
    @Description("A process that works for the server was started; it does not serve yet")
    @Category({"Gatun", "Workers"})
    @StackTrace(false)
    private static final class Started extends Event {
        @Label("Worker")
        private String worker = "";

        @Label("PID")
        private long pid;
    }

    @Name("gatun.WorkerEnded")
    @Label("Worker Ended")
    @Description("A process that worked for the server has ended; the log has its last words")
    @Category({"Gatun", "Workers"})
    @StackTrace(false)
    private static final class Ended extends Event {
        @Label("Worker")
        private String worker = "";

        @Label("PID")
        private long pid;

        @Label("Reason")
        @Description("signal, exit or server")
        private String reason = "";

        @Label("How")
        @Description("By which signal, with which status, or why the server ended it")
        private String how = "";

        @Label("Lifetime")
        @Timespan(Timespan.MILLISECONDS)
        private long lifetime;
    }

    /** A worker that died and is started again. Committed when it serves, or could not be started. For one thread. */
    @Name("gatun.WorkerRestarted")
    @Label("Worker Restarted")
    @Description("A process was started in the place of one that had died; the duration is that of the start")
    @Category({"Gatun", "Workers"})
    @StackTrace(false)
    static final class Restarted extends Event {
        @Label("Worker")
        private String worker = "";

        @Label("Serves")
        @Description("Whether it serves; otherwise it is tried again")
        private boolean serves;

        private Restarted() {}

        void end(boolean newServes) {
            serves = newServes;
            commit();
        }
    }
}
