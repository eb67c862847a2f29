package gatun.http.tensorflow;

import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.runtime.InferenceServer;
import gatun.runtime.ModelVersion;

/** Finds model versions, and says in the protocol's words when there is none. Safe for any thread. */
final class Servables {
    private final InferenceServer server;

    Servables(InferenceServer server) {
        this.server = server;
    }

    /**
     * The same, of a model that gives one answer to one request.
     *
     * @throws GatunException as {@link #find}; UNSUPPORTED for a model that may give any number of them
     */
    ModelVersion findSingleAnswering(ServablePath path) {
        ModelVersion model = find(path);
        if (model.decoupled()) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "model '" + model.name() + "' may give several responses to one request, which TensorFlow Serving's"
                            + " protocol has no way for; ask it over a stream of the v2 protocol");
        }
        return model;
    }

    /**
     * The version that is to answer a request to {@code path}.
     *
     * @throws GatunException NOT_FOUND when it does not serve, INVALID_ARGUMENT for an unknown label, UNAVAILABLE when the server stops
     */
    ModelVersion find(ServablePath path) {
        if (server.exiting()) {
            throw new GatunException(ErrorCode.UNAVAILABLE, InferenceServer.EXITING);
        }
        if (!path.label().isEmpty()) {
            throw GatunException.invalidArgument("Unrecognized servable version label: " + path.label());
        }
        try {
            return server.model(path.model(), path.version());
        } catch (GatunException e) {
            String wanted = path.version().isEmpty()
                    ? "Latest(" + path.model() + ")"
                    : "Specific(" + path.model() + ", " + Long.parseLong(path.version()) + ")";
            throw new GatunException(ErrorCode.NOT_FOUND, "Servable not found for request: " + wanted, e);
        }
    }
}
