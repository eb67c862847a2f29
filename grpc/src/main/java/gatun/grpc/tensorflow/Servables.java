package gatun.grpc.tensorflow;

import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.runtime.InferenceServer;
import gatun.runtime.ModelVersion;
import java.util.Optional;
import java.util.OptionalLong;

/** Finds models as TensorFlow Serving's clients name them, with its error texts. Safe for any thread. */
final class Servables {
    private final InferenceServer server;

    Servables(InferenceServer server) {
        this.server = server;
    }

    /**
     * The version that is to answer.
     *
     * @throws GatunException INVALID_ARGUMENT for a request without a name or with an unknown label, NOT_FOUND where nothing is served
     */
    ModelVersion find(Servable wanted) {
        if (wanted.name().isEmpty()) {
            throw GatunException.invalidArgument("ModelSpec has no name specified.");
        }
        if (wanted.label().isPresent()) {
            String label = wanted.label().get();
            OptionalLong version = server.labelled(wanted.name(), label);
            if (version.isEmpty()) {
                throw GatunException.invalidArgument("Unrecognized servable version label: " + label);
            }
            return find(new Servable(wanted.name(), version, Optional.empty(), wanted.signature()));
        }
        boolean any = wanted.version().isEmpty();
        if (!any && wanted.version().getAsLong() < 0) {
            throw notFound(wanted);
        }
        try {
            ModelVersion model = server.model(
                    wanted.name(), any ? "" : Long.toString(wanted.version().getAsLong()));
            if (model.decoupled()) {
                throw new GatunException(
                        ErrorCode.UNSUPPORTED,
                        "model '" + wanted.name() + "' may give several responses to one request, which TensorFlow"
                                + " Serving's protocol has no way for; ask it over a stream of the v2 protocol");
            }
            return model;
        } catch (GatunException e) {
            throw switch (e.code()) {
                case NOT_FOUND, UNAVAILABLE, INVALID_ARGUMENT -> notFound(wanted);
                default -> e;
            };
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
