// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

/**
 * How far the stop of the listeners of one server has come; shared by their connections. It only goes forward.
 * Thread-safe.
 *
 * A connection ends with the response that announces it, once its client has sent nothing more, or the server is about
 * to refuse requests; a connection without a request to answer ends when the listeners stop.
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
     * From now on, the current response is the last of its connection, even where its client has sent more requests:
     * they would be refused soon, and a client may send unanswered requests elsewhere. To be called a moment before
     * requests are refused.
     */
    public void cutPipelines() {
        cuttingPipelines = true;
    }

    /** Whether responses end their connections. */
    boolean draining() {
        return draining;
    }

    /** Whether responses end their connections even where more requests have come. */
    boolean cuttingPipelines() {
        return cuttingPipelines;
    }

    /** Whether a connection that has nothing to answer ends. */
    boolean ending() {
        return ending;
    }
}
