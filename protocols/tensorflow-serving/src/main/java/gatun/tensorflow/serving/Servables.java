// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelVersion;
import gatun.runtime.ServerExit;
import gatun.runtime.server.InferenceService;
import java.util.Optional;
import java.util.OptionalLong;

/** Finds models as TensorFlow Serving's clients name them, with its error texts. Safe for any thread. */
public final class Servables {
    private final InferenceService server;

    /** Finds the models of {@code server}. */
    public Servables(InferenceService server) {
        this.server = server;
    }

    /** As {@link #find}, of a model that gives one response to one request; UNSUPPORTED for another. */
    public ModelVersion findSingleAnswering(Servable wanted) {
        ModelVersion model = find(wanted);
        if (model.decoupled()) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "model '" + model.name() + "' may give several responses to one request, which TensorFlow Serving's"
                            + " protocol has no way for; ask it over a stream of the v2 protocol");
        }
        return model;
    }

    /**
     * The version that is meant. Throws INVALID_ARGUMENT without a name or with an unknown label, NOT_FOUND where
     * nothing is served, UNAVAILABLE when the server stops.
     */
    public ModelVersion find(Servable wanted) {
        if (server.exiting()) {
            throw ServerExit.refusal();
        }
        if (wanted.name().isEmpty()) {
            throw GatunException.invalidArgument("ModelSpec has no name specified.");
        }
        if (wanted.label().isPresent()) {
            return findLabelled(wanted, wanted.label().get());
        }
        boolean any = wanted.version().isEmpty();
        if (!any && wanted.version().getAsLong() < 0) {
            throw notFound(wanted);
        }
        try {
            return server.model(
                    wanted.name(), any ? "" : Long.toString(wanted.version().getAsLong()));
        } catch (GatunException e) {
            throw switch (e.code()) {
                case NOT_FOUND, UNAVAILABLE, INVALID_ARGUMENT -> notFound(wanted);
                default -> e;
            };
        }
    }

    private ModelVersion findLabelled(Servable wanted, String label) {
        OptionalLong version = server.labelled(wanted.name(), label);
        if (version.isEmpty()) {
            throw GatunException.invalidArgument("Unrecognized servable version label: " + label);
        }
        try {
            return find(new Servable(wanted.name(), version, Optional.empty(), wanted.signature()));
        } catch (GatunException e) {
            // The label has moved between the two looks, and the version that it stood for is gone.
            if (server.labelled(wanted.name(), label).equals(version)) {
                throw e;
            }
            return findLabelled(wanted, label);
        }
    }

    private static GatunException notFound(Servable wanted) {
        return new GatunException(
                ErrorCode.NOT_FOUND,
                wanted.version().isEmpty()
                        ? "Servable not found for request: Latest(" + wanted.name() + ")"
                        : "Servable not found for request: Specific(" + wanted.name() + ", "
                                + wanted.version().getAsLong() + ")");
    }
}
