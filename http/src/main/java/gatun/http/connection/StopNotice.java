// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import io.helidon.webserver.CloseConnectionException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * How far the stop of one server's listeners has come, shared by their connections. It only goes forward. Thread-safe.
 * A connection ends with the response that announces it, once its client has sent nothing more or requests are about to
 * be refused; one without a request to answer ends when the listeners stop.
 */
public final class StopNotice {
    private volatile boolean draining;
    private volatile boolean ending;
    private volatile boolean cuttingPipelines;

    /** Serving: nothing has been said of a stop. */
    public StopNotice() {}

    /** From now on responses tell clients that their connection ends. New connections are still served. */
    public void drain() {
        draining = true;
    }

    /** From now on connections wait for no further request. To be called before the listeners stop. */
    public void end() {
        draining = true;
        ending = true;
    }

    /**
     * From now on the current response is the last of its connection, even if more requests were sent: they would be
     * refused soon, and may be sent elsewhere. To be called a moment before requests are refused.
     */
    public void cutPipelines() {
        cuttingPipelines = true;
    }

    boolean draining() {
        return draining;
    }

    boolean cuttingPipelines() {
        return cuttingPipelines;
    }

    boolean ending() {
        return ending;
    }

    /**
     * Whether a connection has a request to answer, decided in one word between its thread and the listener's stop: a
     * request whose head was read is answered. For its thread; {@link #endIfIdle} and {@link #isBusy} for any.
     */
    static final class RequestActivity {
        private enum State {
            /** The thread waits for a head. */
            IDLE,
            /** A request is answered, or bytes that came with it are looked at. */
            BUSY,
            /** No request is begun any more. */
            ENDED
        }

        /** The most requests that are answered after the drain began while their client goes on sending. */
        private static final int MOST_PIPELINED = 256;

        private final StopNotice stop;
        private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);
        private boolean inRequest;
        private int answeredWhileDraining;

        RequestActivity(StopNotice stop) {
            this.stop = stop;
        }

        /** A request's head has been read. Throws {@link CloseConnectionException} if the connection ended first. */
        void beginRequest() {
            inRequest = true;
            if (state.get() != State.BUSY && !state.compareAndSet(State.IDLE, State.BUSY)) {
                throw stopped();
            }
        }

        void endRequest() {
            inRequest = false;
        }

        /** About to read: between requests the connection may be ended. Throws when it has been, or is to be now. */
        void startReading() {
            if (inRequest) {
                return;
            }
            if (state.get() == State.BUSY) {
                state.set(State.IDLE);
            }
            // After the state was set: the thread that ends all connections has said so before it looks at the state.
            if (stop.ending() || state.get() == State.ENDED) {
                throw stopped();
            }
        }

        /** The last response has been sent. Returns whether the connection's client may still be waited for. */
        boolean mayLinger() {
            state.compareAndSet(State.BUSY, State.IDLE);
            return !stop.ending() && state.get() == State.IDLE;
        }

        boolean draining() {
            return stop.draining();
        }

        /** Counts a response while the listener drains; returns whether it must be the connection's last. */
        boolean mustBeLast() {
            return ++answeredWhileDraining >= MOST_PIPELINED || stop.cuttingPipelines();
        }

        /** Ends the connection unless a request is answered; whether it has ended: the caller then wakes its thread. */
        boolean endIfIdle() {
            return state.compareAndSet(State.IDLE, State.ENDED) || state.get() == State.ENDED;
        }

        boolean isBusy() {
            return state.get() == State.BUSY;
        }

        private static CloseConnectionException stopped() {
            return new CloseConnectionException("the server stops");
        }
    }
}
