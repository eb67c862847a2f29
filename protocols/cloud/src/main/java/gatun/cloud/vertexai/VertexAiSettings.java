// SPDX-License-Identifier: Apache-2.0
package gatun.cloud.vertexai;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.server.RepositoryControl;
import java.util.List;

/**
 * The settings of the endpoint: the path of predictions, as Vertex AI sets it, that of health checks, and the model of
 * requests that name none, empty for the only one.
 */
public record VertexAiSettings(String predictRoute, String healthRoute, String defaultModel) {
    /** Throws INVALID_ARGUMENT naming the variable that is missing, or the path that cannot be one. */
    public VertexAiSettings {
        if (predictRoute.isEmpty()) {
            throw GatunException.invalidArgument("API_PREDICT_ROUTE is not defined for Vertex AI endpoint; set the"
                    + " variable AIP_PREDICT_ROUTE to the path of predictions");
        }
        if (healthRoute.isEmpty()) {
            throw GatunException.invalidArgument("AIP_HEALTH_ROUTE is not defined for Vertex AI endpoint; set the"
                    + " variable AIP_HEALTH_ROUTE to the path of health checks");
        }
        requirePath("AIP_PREDICT_ROUTE", predictRoute);
        requirePath("AIP_HEALTH_ROUTE", healthRoute);
        if (predictRoute.equals(healthRoute)) {
            throw GatunException.invalidArgument("AIP_PREDICT_ROUTE and AIP_HEALTH_ROUTE are both '" + predictRoute
                    + "': expected two different paths");
        }
    }

    private static void requirePath(String variable, String path) {
        if (!path.startsWith("/") || path.chars().anyMatch(c -> "{}[]?#".indexOf(c) >= 0)) {
            throw GatunException.invalidArgument(variable + " is '" + path
                    + "': expected a path that begins with a slash, without ?, # and brackets");
        }
    }

    /** The model of requests that name none: the default, or the only ready one. Throws INVALID_ARGUMENT otherwise. */
    String chooseModel(RepositoryControl server) {
        List<String> ready = server.index().stream()
                .filter(model -> model.state() == ModelState.READY)
                .map(ModelStatus::name)
                .toList();
        if (defaultModel.isEmpty()) {
            if (ready.size() != 1) {
                throw GatunException.invalidArgument("Expect the model repository contains only a single model if"
                        + " default model is not specified; ready are: " + ready);
            }
            return ready.getFirst();
        }
        if (!ready.contains(defaultModel)) {
            throw GatunException.invalidArgument(
                    "Expect the default model '" + defaultModel + "' is loaded; ready are: " + ready);
        }
        return defaultModel;
    }
}
