package gatun.runtime.spi;

/** Runs a model. Made, used and closed by one thread, the own platform thread of the instance. */
public interface BackendInstance extends AutoCloseable {
    /**
     * Runs once. Reads the inputs in place, obtains memory for each output with {@link Execution#output} and fills it.
     * The inputs are valid until this returns.
     *
     * <p>Whatever this throws fails the requests of the run and nothing else: a {@code GatunException} with its own code and text, all
     * else as a fault of the backend, whose stack trace is logged. The instance goes on to serve other requests.
     *
     * @throws gatun.memory.GatunException when the engine refuses the inputs or fails
     */
    void execute(Execution execution);

    /**
     * Asks the run under way to end soon, by a failure: nobody wants its answer any more. Called by other threads, but only during {@link
     * #execute}, and held against its end: must return at once. An engine that cannot be stopped does nothing.
     */
    default void stop() {}

    /** Pays the engine's first-call costs; called once at load, before the instance serves. */
    void warmUp();

    /** Gives up what the instance took from the engine. */
    @Override
    void close();
}
