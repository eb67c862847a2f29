// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import java.util.List;

/** A loaded model version. Safe for any thread; closed after its last instance. */
public interface BackendModel extends AutoCloseable {
    /**
     * Makes an instance. Called on the very thread that will use it, so that the instance may keep memory which only
     * that thread may touch.
     *
     * @throws gatun.memory.tensor.GatunException when the engine refuses, also for a device that it does not run on
     */
    BackendInstance newInstance(InstanceSpec spec);

    /**
     * What else requests may ask for, beside what the configuration describes: the first is that, with the names that
     * the model's files give, and more may follow, each with inputs and outputs of its own. Empty for a model whose
     * files know nothing of the kind. Models with sequences or ragged batches are asked by the first only.
     */
    default List<EntryPoint> entryPoints() {
        return List.of();
    }

    /**
     * What the engine has chosen for the model that its configuration leaves open, and why, a line each for people to
     * read: such as its threads. Asked when its instances are open.
     */
    default List<String> choices() {
        return List.of();
    }

    /** Gives up what the model took from the engine, if anything. */
    @Override
    default void close() {}
}
