// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.buffers.BufferPool;
import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.EngineStatistics;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelMemoryUse;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelVersion;
import gatun.runtime.ServerMetadata;
import gatun.runtime.Subscription;
import gatun.runtime.VersionCounters;
import gatun.runtime.limits.HeapBudget;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.logging.LogControl;
import gatun.runtime.logging.RecordedLog.RequestWatch;
import gatun.runtime.placement.RunPlacement;
import gatun.runtime.repository.VersionText;
import gatun.runtime.tracing.Tracing;
import gatun.wire.inference.ModelConfig;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The server without its sockets, as every protocol calls it. Safe for any thread. */
public interface InferenceServer extends AutoCloseable {
    /** The server's metadata. */
    ServerMetadata metadata();

    /**
     * Whether the process can answer at all.
     *
     * @throws GatunException UNAVAILABLE when the server stops
     */
    boolean live();

    /**
     * Whether every model version that should be served is.
     *
     * @throws GatunException UNAVAILABLE when the server stops
     */
    boolean ready();

    /** Whether the server was told to stop: it answers accepted requests, and refuses new ones. */
    default boolean exiting() {
        return false;
    }

    /**
     * The version of a model that is to answer a request.
     *
     * @param name the model's name
     * @param version the version in decimal as the client wrote it; empty for the highest that is ready
     * @throws GatunException NOT_FOUND, UNAVAILABLE or INVALID_ARGUMENT with the protocol's text
     */
    ModelVersion model(String name, String version);

    /**
     * The version of the model with that identity.
     *
     * @throws GatunException as {@link #model(String, String)}
     */
    default ModelVersion model(ModelIdentifier model, String version) {
        return model(model.name(), version);
    }

    /**
     * Why a version cannot answer now, in the protocol's words; empty when it can.
     *
     * @param version the version in decimal as the client wrote it; empty for the highest that is ready
     * @throws GatunException INVALID_ARGUMENT when that is no number
     */
    default Optional<String> unreadiness(String name, String version) {
        try {
            return model(name, version).ready()
                    ? Optional.empty()
                    : Optional.of("model '" + name + "' cannot answer requests now");
        } catch (GatunException e) {
            if (e.code() == ErrorCode.NOT_FOUND || e.code() == ErrorCode.UNAVAILABLE) {
                return Optional.of(e.getMessage());
            }
            throw e;
        }
    }

    /** Every model version in the repository, by name and version; a line without version if never loaded. */
    List<ModelStatus> index();

    /** As {@link #index}, without models that were never loaded: looks into no repository. */
    default List<ModelStatus> states() {
        return index();
    }

    /** Who decides which models are loaded. */
    default ControlMode controlMode() {
        return ControlMode.NONE;
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

    /** The listed version of a label; empty for none. A label moves once its new version serves. */
    default OptionalLong labelled(String model, String label) {
        return OptionalLong.empty();
    }

    /**
     * Calls {@code listener} each time after a version of a model has changed its state, or the server has begun to
     * stop: after that {@link #ready} may answer otherwise. It is called by the thread that made the change and must
     * return at once.
     */
    Subscription onChange(Runnable listener);

    /** The counters of every ready version, by name and version. */
    List<ModelStatistics> statistics();

    /**
     * How long the requests to every ready version took, by name and version; reading it never makes a request wait.
     */
    default List<ModelLatencies> latencies() {
        return List.of();
    }

    /** Shows {@code look} each ready version and its counters, which change with a reload only. Allocates nothing. */
    default void forEachReady(VersionCounters.Look look) {}

    /** The statistics of each engine that a model needed, by name. */
    List<EngineStatistics> engines();

    /** The metrics that models and backends have made themselves, by name. */
    default MetricSource modelMetrics() {
        return sink -> {};
    }

    /** How much memory models take; empty unless it has a limit, and models are loaded by the requests that need them. */
    default Optional<ModelMemoryUse> modelMemory() {
        return Optional.empty();
    }

    /**
     * The counters of the ready versions of one model, or of one version.
     *
     * @param name the model's name; empty for all models
     * @param version the version, which begins with a decimal number; empty for all
     * @throws GatunException INVALID_ARGUMENT when that is no number, or the named one is not ready, with the
     *     protocol's text
     */
    default List<ModelStatistics> statistics(String name, String version) {
        String number = version.isEmpty() ? version : Long.toString(VersionText.parse(version));
        List<ModelStatistics> named = statistics().stream()
                .filter(model -> name.isEmpty() || model.name().equals(name))
                .toList();
        List<ModelStatistics> wanted = named.stream()
                .filter(model -> number.isEmpty() || model.version().equals(number))
                .toList();
        if (wanted.isEmpty() && !name.isEmpty()) {
            throw GatunException.invalidArgument(
                    named.isEmpty()
                            ? "requested model '" + name + "' is not available"
                            : "requested model version is not available for model '" + name + "'");
        }
        return wanted;
    }

    /**
     * Answers one request; parks the calling thread, which should be virtual, until the response is there. Owns the
     * request from the first moment and closes it on every path. The caller owns the response.
     *
     * @throws GatunException when the request is wrong, refused or failed; UNSUPPORTED when its model is decoupled
     */
    InferenceResponse infer(InferenceRequest request);

    /**
     * Answers one request with as many responses as its model gives: one, or for a decoupled model any number, also
     * none. Parks the calling thread, which should be virtual, until the last is there, and calls {@code receiver} on
     * it for each. Owns the request as {@link #infer(InferenceRequest)} does.
     *
     * <p>A decoupled model waits when the receiver falls some responses behind. A failure of the receiver gives the
     * request up and is thrown to the caller, and so does {@link InferenceRequest#cancellation}, after which the
     * receiver is not called again.
     *
     * @throws GatunException when the request is wrong, refused or failed; responses may have come before
     */
    default void infer(InferenceRequest request, ResponseReceiver receiver) {
        receiver.accept(infer(request), true);
    }

    /** The log settings, and how clients change them. */
    default LogControl log() {
        return LogControl.fixed();
    }

    /** Which requests are traced; the protocols begin the traces. */
    Tracing tracing();

    /** Where listeners write a line for each request. */
    default AccessLog accessLog() {
        return AccessLog.OFF;
    }

    /** On which threads runs are. */
    default RunPlacement placement() {
        return RunPlacement.of(true);
    }

    /** Has {@code watch} told of each request over a listener from now on, in the place of who was before. */
    default void watchRequests(RequestWatch watch) {}

    /** The shared-memory regions that clients registered. */
    RegionRegistry regions();

    /** The limits of one request; protocols check them before they build anything from the data of a client. */
    default RequestLimits limits() {
        return RequestLimits.STANDARD;
    }

    /** The budget of Java heap for the long parts of all requests together. */
    HeapBudget heap();

    /** The pool that request and response tensors are lent from. */
    BufferPool buffers();

    /** Refuses new requests, waits for running ones and unloads all models. */
    @Override
    void close();
}
