// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import java.util.List;

/**
 * Runs a model. Made, warmed up, run and closed by one thread, the instance's own platform thread, unless
 * {@link #isBoundToThread} is false. Then that thread ends where nothing is to be run for some time, and another takes
 * its place; and where runs have shown to be short, a request's own virtual thread may call {@link #execute}, which
 * spares waking another. Never two threads at a time, and each sees what the one before wrote.
 */
public interface BackendInstance extends AutoCloseable {
    /**
     * Runs once. Reads the inputs in place, obtains memory for each output with {@link Execution#output} and fills it.
     * The inputs are valid until this returns.
     *
     * <p>Whatever this throws fails the requests of the run and nothing else: a {@code GatunException} with its own
     * code and text, all else as a fault of the backend, whose stack trace is logged. The instance goes on to serve
     * other requests.
     *
     * @throws gatun.memory.tensor.GatunException when the engine refuses the inputs or fails
     */
    void execute(Execution execution);

    /**
     * Runs once for several requests, each with inputs and outputs of its own, in their order. Called instead of
     * {@link #execute} for a batch of a model that {@linkplain BackendModel#takesRequestsApart takes requests apart};
     * otherwise as that. What this throws fails all of them, {@link ExecutionRequest#fail} a single one.
     *
     * @param executions one for each request; each may be used until this returns
     */
    default void executeApart(List<? extends Execution> executions) {
        executions.forEach(this::execute);
    }

    /** Whether {@link #execute} and {@link #close} need the thread that made this. True by default. */
    default boolean isBoundToThread() {
        return true;
    }

    /**
     * Asks the run under way to end soon, by a failure: nobody wants its response any more. Called by other threads,
     * but only during {@link #execute}, and held against its end: must return at once. Called again by
     * {@link Execution#inferStarted} where nobody wants the response by then, so that {@link #execute} may forget at
     * its beginning that it was told to stop. An engine that cannot be stopped does nothing.
     */
    default void stop() {}

    /**
     * Has the run under way, and every later one, fail soon: the load that the run is part of has taken too long, or the
     * model is not wanted any more. Called by another thread, once, in place of {@link #stop} where nothing is kept;
     * {@link #close} follows. An instance in a process of its own ends that process. Does nothing by default: the load
     * is left to itself until the run returns.
     */
    default void abort() {}

    /**
     * Pays the engine's first-call costs, where there are any; called once at load. Nobody has asked for it, so that it
     * takes a second at most: then {@link #stop} is called, after which this begins no other run. A load does not wait
     * any longer, and the instance serves when this returns.
     */
    default void warmUp() {}

    /** Frees memory that past runs needed. Called once at load, after runs larger than any to come. */
    default void trimMemory() {}

    /** Gives up what the instance took from the engine, if anything. */
    @Override
    default void close() {}
}
