// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ListedModels;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.server.RepositoryControl;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.wire.tensorflow.Code;
import gatun.wire.tensorflow.serving.Metric;
import gatun.wire.tensorflow.serving.ReloadConfigRequest;
import gatun.wire.tensorflow.serving.ReloadConfigResponse;
import io.grpc.Status;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Replaces the list of served models. Thread-safe; the caller makes one replacement at a time. */
final class ConfigReload {
    private final RepositoryControl server;
    private final boolean anyLabels;
    private final @Nullable ServingMetrics metrics;

    /** {@code anyLabels}: new labels may be for versions that do not serve yet. {@code metrics}: null for nothing. */
    ConfigReload(RepositoryControl server, boolean anyLabels, @Nullable ServingMetrics metrics) {
        this.server = server;
        this.anyLabels = anyLabels;
        this.metrics = metrics;
    }

    /** Replaces the list, waits for new models. Throws when one cannot be loaded; a wrong list changes nothing. */
    ReloadConfigResponse apply(ReloadConfigRequest request) {
        List<ListedModel> requested = ListedModels.of(request.getConfig());
        Map<String, ListedModel> before =
                server.listed().stream().collect(Collectors.toMap(ListedModel::name, model -> model));
        requested.forEach(model -> requireSamePlatform(model, before));
        List<ListedModel> models = server.admitListed(requested);
        ListedModels.requireServed(models);
        models.forEach(model -> requireLabelledVersions(model, before));
        List<Metric> counted = counted(request);
        server.reloadListed(models);
        requireAll(models);
        ReloadConfigResponse.Builder response = ReloadConfigResponse.newBuilder();
        List<Metric> now = counted(request);
        for (int i = 0; i < now.size(); i++) {
            long increase = now.get(i).getInt64ValueIncrease() - counted.get(i).getInt64ValueIncrease();
            response.addMetric(now.get(i).toBuilder().setInt64ValueIncrease(increase));
        }
        response.getStatusBuilder().setErrorCode(Code.OK);
        return response.build();
    }

    /** The values of the counters that the request names; empty where nothing is counted. */
    private List<Metric> counted(ReloadConfigRequest request) {
        ServingMetrics present = metrics;
        return present == null
                ? List.of()
                : request.getMetricNamesList().stream()
                        .map(name -> Metric.newBuilder()
                                .setName(name)
                                .setInt64ValueIncrease(present.counted(name))
                                .build())
                        .toList();
    }

    private static void requireSamePlatform(ListedModel model, Map<String, ListedModel> before) {
        ListedModel earlier = before.get(model.name());
        if (earlier != null && !earlier.platform().equals(model.platform())) {
            throw GatunException.invalidArgument("Illegal to change a model's platform. For model " + model.name()
                    + " platform was " + earlier.platform() + " and new platform requested is " + model.platform());
        }
    }

    /** A label is for a version that serves already, before the new list is applied. */
    private void requireLabelledVersions(ListedModel model, Map<String, ListedModel> before) {
        ListedModel earlier = before.get(model.name());
        model.labels().forEach((label, version) -> {
            if (anyLabels && (earlier == null || !earlier.labels().containsKey(label))) {
                return;
            }
            boolean available = server.index().stream()
                    .anyMatch(row -> row.name().equals(model.name())
                            && row.version().equals(version.toString())
                            && row.state() == ModelState.READY);
            if (!available) {
                throw Status.FAILED_PRECONDITION
                        .withDescription("Request to assign label to version " + version + " of model " + model.name()
                                + ", which is not currently available for inference")
                        .asRuntimeException();
            }
        });
    }

    private void requireAll(List<ListedModel> models) {
        StringBuilder failures = new StringBuilder();
        long count = 0;
        for (ListedModel model : models) {
            for (ModelStatus row : server.index()) {
                if (row.name().equals(model.name()) && row.isFailed()) {
                    failures.append("{name: ").append(model.name());
                    if (!row.version().isEmpty()) {
                        failures.append(" version: ").append(row.version());
                    }
                    failures.append("} due to error: UNKNOWN: ").append(row.reason());
                    failures.append("}, ");
                    count++;
                }
            }
        }
        if (count > 0) {
            throw new GatunException(
                    ErrorCode.UNKNOWN,
                    count + " model(s) did not become available: {"
                            + failures.toString().replace("{name", "{{name") + "}");
        }
    }
}
