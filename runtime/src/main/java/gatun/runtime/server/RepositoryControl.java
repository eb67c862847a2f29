// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatus;
import gatun.wire.inference.ModelConfig;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** The models of the repositories, and which of them are loaded. Thread-safe. */
public interface RepositoryControl {
    /** Who decides which models are loaded. */
    default ControlMode controlMode() {
        return ControlMode.NONE;
    }

    /** Every model version in the repository, by name and version; a line without version if never loaded. */
    List<ModelStatus> index();

    /** As {@link #index}, without models that were never loaded: looks into no repository. */
    default List<ModelStatus> states() {
        return index();
    }

    /** A model's configuration as written, before it was completed; empty where no version serves. */
    default Optional<ModelConfig> writtenConfig(String name) {
        return Optional.empty();
    }

    /**
     * Loads a model, or loads it anew when its files have changed since; waits until its versions are ready. Versions
     * that serve go on until the new ones are ready, and stay when they fail. Models that it asks are loaded too.
     *
     * @param override the configuration and files to take instead of the repository's; a load with one always loads
     *     anew, and the next without one undoes it
     * @throws GatunException with the protocol's text: UNAVAILABLE where the operator did not choose
     *     {@link ControlMode#EXPLICIT}, INVALID_ARGUMENT or INTERNAL when the model cannot be loaded
     */
    void load(String name, ModelOverride override);

    /**
     * Unloads a model. Returns at once: new requests are refused, those that were accepted are answered, and then its
     * memory is given back. Does nothing when there is no such model.
     *
     * @param dependents whether to unload also models that were loaded only because this model asks them
     * @throws GatunException UNAVAILABLE with the protocol's text where the operator did not choose
     *     {@link ControlMode#EXPLICIT}
     */
    void unload(String name, boolean dependents);

    /** The models that are served because a list names them, and not because a repository holds them. */
    default List<ListedModel> listed() {
        return List.of();
    }

    /**
     * Serves these models, which the operator lists, in the place of {@link #listed}: loads those that are new or changed, unloads those that are
     * missing, and waits until each of the new ones is ready or has a reason why not in {@link #index}. A model that
     * serves goes on until its replacement is ready.
     *
     * @throws GatunException UNAVAILABLE where the operator gave no list
     */
    default void replaceListed(List<ListedModel> models) {
        throw new GatunException(ErrorCode.UNAVAILABLE, "this server has no list of models that could be replaced");
    }

    /** As {@link #replaceListed}, with a list of a client's; throws as {@link #admitListed} too, and changes nothing then. */
    default void reloadListed(List<ListedModel> models) {
        throw new GatunException(ErrorCode.UNAVAILABLE, "this server has no list of models that could be replaced");
    }

    /**
     * The models that a client lists, each with the folder that its path really leads to.
     *
     * @throws GatunException INVALID_ARGUMENT for the first whose folder is not one that clients may list: neither listed
     *     by the operator, nor beside such a folder where only root and the server's user put folders, nor in one that
     *     the operator has opened; UNAVAILABLE where the operator gave no list
     */
    default List<ListedModel> admitListed(List<ListedModel> models) {
        throw new GatunException(ErrorCode.UNAVAILABLE, "this server has no list of models that could be replaced");
    }

    /**
     * Adds models that no repository holds, so that they can be loaded by name.
     *
     * @throws GatunException ALREADY_EXISTS for a name that is in use, RESOURCE_EXHAUSTED when there are too many
     *     models, UNAVAILABLE unless models are loaded by name; nothing has changed then
     */
    default void register(List<ListedModel> models) {
        throw new GatunException(ErrorCode.UNAVAILABLE, "this server takes no models besides its own");
    }

    /** Forgets models that {@link #register} added and that are unloaded. */
    default void unregister(Collection<String> names) {}
}
