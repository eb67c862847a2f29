// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.lane.LaneMemory;
import gatun.memory.lane.SlotLayout;
import gatun.memory.lane.SlotLayout.SlotState;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.FailureLog;
import gatun.runtime.ComputeTimes;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.ModelVersion;
import gatun.runtime.ServerExit;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.server.InferenceService;
import gatun.runtime.tracing.RequestTrace;
import gatun.v2.lane.SlotTensors.SlotInference;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A slot's request and its responses. The lane's thread begins, continues and cancels; one thread at a time runs. */
final class LaneCall implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(LaneCall.class);

    private enum State {
        /** Nothing is under way. */
        IDLE,
        /** A request is answered. */
        RUNNING,
        /** A response was given, and the client has not said yet that it has read it. */
        AWAITING_CLIENT
    }

    private final Lane lane;
    private final int slot;
    private final long slotOffset;
    private final SlotRequest slotRequest = new SlotRequest();
    private final SlotTensors tensors;
    private final SlotInference inference;
    /** Made once, so that a request makes none. */
    private final ResponseReceiver receiver = this::accept;

    /** Left by the running thread only, and {@link State#AWAITING_CLIENT} by the lane's. */
    private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);

    /** Which of the slot's requests is under way. For the lane's thread. */
    private int turn;

    private volatile boolean cancelled;
    /** Whether the run holds the lane's thread up, so that another has taken its place. */
    private volatile boolean heldUp;

    private volatile @Nullable InferenceRequest request;
    private volatile @Nullable ScheduledFuture<?> timer;
    private volatile @Nullable Thread runner;

    /** Of an earlier request, where nobody keeps it. For the running thread. */
    private @Nullable AccessEntry unkept;

    // Of the present request, for the running thread.
    private ComputeTimes times = new ComputeTimes();
    private @Nullable PreparedRequest prepared;
    private @Nullable GatunException refusal;
    private boolean whereFound;
    private long foundNanos;
    private long engineNanos;
    private boolean finished;

    LaneCall(Lane lane, int slot) {
        this.lane = lane;
        this.slot = slot;
        this.slotOffset = lane.memory().slotOffset(slot);
        this.tensors = new SlotTensors(lane, slotRequest, slotOffset);
        this.inference = new SlotInference(lane.client(), slotRequest, tensors);
    }

    boolean isBusy() {
        return state.get() != State.IDLE;
    }

    /** Takes the slot's request, all of it. For the lane's thread, while idle; {@link #run} answers faults. */
    void begin(int newTurn) {
        turn = newTurn;
        foundNanos = System.nanoTime();
        cancelled = false;
        heldUp = false;
        finished = false;
        whereFound = false;
        engineNanos = 0;
        refusal = null;
        prepared = null;
        state.set(State.RUNNING);
        LaneMemory memory = lane.memory();
        slotRequest.readHead(memory, slotOffset);
        try {
            PreparedRequest found = lane.prepared(slotRequest.prepared());
            if (slotRequest.readTensors(memory, slotOffset, found.inputCount() + found.outputCount())) {
                inference.forget();
            }
            slotRequest.readTexts(memory, slotOffset);
            prepared = found;
        } catch (GatunException e) {
            refusal = e;
        }
    }

    /** The prepared request; null when it is refused. For the lane's thread, before it runs. */
    @Nullable
    PreparedRequest taken() {
        return prepared;
    }

    /** The core that the client hands over while it waits; negative where it does not. For the lane's thread. */
    int callerCore() {
        return slotRequest.callerCore();
    }

    /** Goes on after a response. For the lane's thread. */
    void proceed(int entryTurn) {
        if (entryTurn == turn) {
            wakeRunner();
        }
    }

    /** Gives the request up, if it is still under way. For the lane's thread. */
    void cancel(int entryTurn) {
        if (entryTurn == turn) {
            cancel();
        }
    }

    /** Gives the request up. For any thread. */
    void cancel() {
        cancelled = true;
        InferenceRequest present = request;
        if (present != null) {
            present.cancellation().cancel();
        }
        wakeRunner();
    }

    /** Gives the request up if it waits for its client to read. For any thread. */
    void cancelUnread() {
        if (state.get() == State.AWAITING_CLIENT) {
            cancel();
        }
    }

    private void wakeRunner() {
        if (state.compareAndSet(State.AWAITING_CLIENT, State.RUNNING)) {
            LockSupport.unpark(runner);
        }
    }

    /** Where a request is answered that was not sent elsewhere: the lane's thread. */
    @FunctionalInterface
    interface Place {
        /** Ends the run there; false where another thread has taken the place over, because the run held it up. */
        boolean leave();
    }

    /** Answers the request on the lane's thread. Returns whether the client slept meanwhile. */
    boolean run(Place place) {
        whereFound = true;
        return answer(place);
    }

    @Override
    public void run() {
        answer(() -> false);
    }

    private boolean answer(Place place) {
        runner = Thread.currentThread();
        int code = 0;
        String text = "";
        AccessEntry entry = accessEntry();
        String status = "OK";
        try {
            infer();
        } catch (GatunException e) {
            boolean late = e.code() == ErrorCode.CANCELLED && !cancelled && slotRequest.deadlineHasPassed();
            code = late ? SlotResponse.DEADLINE_EXCEEDED : e.code().number();
            text = late ? "the request's deadline has passed" : e.getMessage();
            status = late ? "DEADLINE_EXCEEDED" : e.code().name();
        } catch (Throwable t) {
            FailureLog.write(t, failure -> LOG.error("A request of a lane failed", failure));
            code = ErrorCode.INTERNAL.number();
            text = "the server failed: its log tells why";
            status = ErrorCode.INTERNAL.name();
        } finally {
            if (entry != null) {
                AccessEntry.unbind();
            }
        }
        if (entry != null) {
            end(entry, status);
        }
        // Before the client may fill the slot again: whoever limits the time of this run does not limit the next.
        if (!place.leave()) {
            inference.forget();
        }
        return finish(code, text);
    }

    private void end(AccessEntry entry, String status) {
        if (entry.end(status)) {
            unkept = entry;
        } else {
            unkept = null;
            times = new ComputeTimes(); // the entry shows the others
        }
    }

    /** The request's entry in the access log, bound to this thread; null where there is no such log. */
    private @Nullable AccessEntry accessEntry() {
        AccessLog log = lane.server().accessLog();
        if (!log.isOn()) {
            return null;
        }
        AccessEntry entry = unkept;
        if (entry == null) {
            entry = AccessEntry.begin(log, "lane", null, "infer");
        } else {
            unkept = null;
            entry.restart();
        }
        entry.bind();
        return entry;
    }

    private void infer() {
        if (refusal != null) {
            throw refusal;
        }
        InferenceService server = lane.server();
        if (server.exiting()) {
            throw ServerExit.refusal();
        }
        PreparedRequest asked = known();
        ModelVersion model = server.model(asked.model(), asked.version());
        Optional<RequestTrace> trace =
                server.tracing().begin(model.name(), model.version(), asked, nothing -> Optional.empty());
        try {
            infer(server, model, trace);
        } finally {
            trace.ifPresent(RequestTrace::end);
        }
    }

    private void infer(InferenceService server, ModelVersion model, Optional<RequestTrace> trace) {
        InferenceRequest made = inference.begin(known(), model, trace.isPresent());
        try {
            if (trace.isPresent()) {
                made.trace(trace.get());
            }
            request = made;
            if (limitTime(made) && (!whereFound || heldUp)) {
                startTimer(made);
            }
            if (cancelled) {
                made.cancellation().cancel();
            }
        } catch (Throwable t) {
            request = null;
            made.close();
            throw t;
        }
        times.clear();
        made.computeTimes(times);
        try {
            server.infer(made, receiver);
        } catch (GatunException e) {
            throw made.afterRun(e);
        } finally {
            request = null;
            stopTimer();
            engineNanos = times.inferNanos();
            lane.memory().setLong(slotOffset + SlotLayout.ENGINE_NANOS, engineNanos);
            lane.memory().setLong(slotOffset + SlotLayout.VERSION, model.version());
        }
    }

    /** Tells the request how much time it has; false where it has no limit. */
    private boolean limitTime(InferenceRequest made) {
        long deadline = slotRequest.deadline();
        if (deadline == 0) {
            return false;
        }
        long left = deadline - System.nanoTime();
        if (left <= 0) {
            throw new GatunException(ErrorCode.CANCELLED, "");
        }
        made.timeLeftNanos(left);
        return true;
    }

    private void startTimer(InferenceRequest limited) {
        long left = slotRequest.deadline() - System.nanoTime();
        timer = lane.timer().schedule(() -> limited.cancellation().cancel(), left, TimeUnit.NANOSECONDS);
    }

    private void stopTimer() {
        ScheduledFuture<?> started = timer;
        if (started != null) {
            timer = null;
            started.cancel(false);
        }
    }

    /** Whether the time of the present request is over. For any thread, to which it may be the next one's. */
    boolean isLate() {
        return slotRequest.deadlineHasPassed();
    }

    /** Cancels the present request at its deadline, without a timer. For the lane's thread that took over. */
    void limitHeldUp() {
        heldUp = true;
        InferenceRequest present = request;
        if (present != null && slotRequest.deadline() != 0) {
            startTimer(present);
        }
    }

    private PreparedRequest known() {
        return Objects.requireNonNull(prepared, "no request was taken");
    }

    /** Writes a response; waits for the client where more may follow. */
    private void accept(InferenceResponse response, boolean last) {
        try (response) {
            tensors.write(response, known());
        }
        if (last) {
            finished = true;
        } else {
            awaitClient();
        }
    }

    private void awaitClient() {
        writeTimes();
        state.set(State.AWAITING_CLIENT);
        lane.memory().answer(slot, SlotState.MORE);
        while (state.get() == State.AWAITING_CLIENT && !cancelled) {
            LockSupport.park(this);
        }
        state.set(State.RUNNING);
        if (cancelled) {
            throw new GatunException(ErrorCode.CANCELLED, "");
        }
    }

    /** Publishes the response; returns whether the client sleeps, and was woken. */
    private boolean finish(int code, String text) {
        PreparedRequest asked = prepared;
        if (code != 0) {
            SlotResponse.writeFailure(lane.memory(), slotOffset, code, text);
        } else if (!finished) {
            SlotResponse.writeEnd(lane.memory(), slotOffset);
        }
        long took = writeTimes();
        if (asked != null) {
            long engine = code == 0 ? engineNanos : RunLength.UNKNOWN;
            if (whereFound) {
                asked.runLength().endWhereFound(engine, took);
            } else {
                asked.runLength().endElsewhere(engine);
            }
        }
        prepared = null;
        refusal = null;
        runner = null;
        state.set(State.IDLE);
        // From here on the client may fill the slot again.
        boolean abandoned = cancelled || code == SlotResponse.DEADLINE_EXCEEDED;
        boolean slept = lane.memory().answer(slot, SlotState.DONE);
        lane.ended(abandoned);
        return slept;
    }

    private long writeTimes() {
        long took = System.nanoTime() - foundNanos;
        lane.memory().setLong(slotOffset + SlotLayout.SERVER_NANOS, took);
        return took;
    }
}
