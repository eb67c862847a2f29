// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.execution.LoadWatch;
import gatun.runtime.execution.ServedModel;
import gatun.wire.inference.ModelConfig;
import java.time.Duration;
import java.util.Optional;

/**
 * A version in the index at one moment. Immutable. {@code required}: the server is ready only with it. {@code model} is
 * there while ready or until now, {@code loading} while it is being loaded. The reason in the {@code status} of a ready
 * one tells why it does not serve the newest files.
 */
record VersionEntry(ModelStatus status, boolean required, Optional<ServedModel> model, Optional<LoadWatch> loading) {
    private VersionEntry(ModelStatus status, boolean required, Optional<ServedModel> model) {
        this(status, required, model, Optional.empty());
    }

    static VersionEntry loading(String name, String version) {
        return new VersionEntry(
                new ModelStatus(name, version, "", ModelState.LOADING, "", Duration.ZERO),
                true,
                Optional.empty(),
                Optional.of(new LoadWatch()));
    }

    static VersionEntry awaited(ModelDirectory directory) {
        String reason = "waits for the first version: there is no folder named by a number in " + directory.path();
        return new VersionEntry(
                new ModelStatus(directory.name(), "", "", ModelState.LOADING, reason, Duration.ZERO),
                true,
                Optional.empty());
    }

    /** A version that could not be loaded, or the whole model when {@code version} is empty. */
    static VersionEntry failed(String name, String version, String engine, String reason, Duration loadTime) {
        return new VersionEntry(
                new ModelStatus(name, version, engine, ModelState.UNAVAILABLE, reason, loadTime),
                true,
                Optional.empty());
    }

    static VersionEntry ready(ServedModel model, Duration loadTime) {
        return new VersionEntry(
                new ModelStatus(
                        model.name(), model.versionText(), engine(model.config()), ModelState.READY, "", loadTime),
                true,
                Optional.of(model));
    }

    static String engine(ModelConfig config) {
        return config.getBackend().isEmpty() ? config.getPlatform() : config.getBackend();
    }

    /** In decimal; empty when this stands for the whole model. */
    String version() {
        return status.version();
    }

    /** Why it is unavailable, or does not serve the newest files; empty otherwise. */
    String reason() {
        return status.reason();
    }

    /** The version as it is now: with its load's progress, and not ready if a model that it asks is not. */
    VersionEntry now() {
        if (loading.isPresent()) {
            return new VersionEntry(status.at(loading.get().progress()), required, model, loading);
        }
        if (!isReady() || model.isEmpty()) {
            return this;
        }
        return model.get()
                .unavailability()
                .map(why -> new VersionEntry(status.as(ModelState.UNAVAILABLE, why), required, model))
                .orElse(this);
    }

    /** Why loading failed; empty where it did not, or nobody tried. */
    Optional<String> loadFailure() {
        return status.state() == ModelState.UNAVAILABLE && !reason().equals(ModelStatus.UNLOADED)
                ? Optional.of(reason())
                : Optional.empty();
    }

    /** Whether this version itself is ready, without a look at the models that it asks. */
    boolean isReady() {
        return status.state() == ModelState.READY;
    }

    /** Whether this serves its files as they are: no later load failed, and its members are unchanged. */
    boolean isCurrent() {
        return isReady()
                && reason().isEmpty()
                && !model.map(ServedModel::outdated).orElse(false);
    }

    /** The same version with another reason. */
    VersionEntry because(String newReason) {
        return new VersionEntry(status.as(status.state(), newReason), required, model);
    }

    /** The same version, where the server may be ready without it. */
    VersionEntry optional() {
        return new VersionEntry(status, false, model, loading);
    }

    /** A version that answers no more, and lets running requests finish. */
    VersionEntry unloading() {
        return new VersionEntry(status.as(ModelState.UNLOADING, ""), false, model);
    }

    /** A version that was unloaded on request. */
    VersionEntry gone() {
        return new VersionEntry(status.as(ModelState.UNAVAILABLE, ModelStatus.UNLOADED), false, Optional.empty());
    }
}
