package gatun.runtime.spi;

/** A loaded model version. Safe for any thread; closed after its last instance. */
public interface BackendModel extends AutoCloseable {
    /**
     * Makes an instance. Called on the very thread that will use it, so that the instance may keep memory which only that
     * thread may touch.
     *
     * @param name the instance's name, for threads and messages
     * @param instanceCount how many instances of the model share the machine, so that none takes all its cores
     * @throws gatun.memory.GatunException when the engine refuses
     */
    BackendInstance newInstance(String name, int instanceCount);

    @Override
    void close();
}
