package gatun.runtime.spi;

/** A loaded model version. Safe for any thread; closed after its last instance. */
public interface BackendModel extends AutoCloseable {
    /**
     * Makes an instance. Called on the very thread that will use it, so that the instance may keep memory which only that
     * thread may touch.
     *
     * @throws gatun.memory.GatunException when the engine refuses, also for a device that it does not run on
     */
    BackendInstance newInstance(InstanceSpec spec);

    /** Gives up what the model took from the engine, if anything. */
    @Override
    default void close() {}
}
