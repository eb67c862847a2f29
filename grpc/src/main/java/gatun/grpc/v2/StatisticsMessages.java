package gatun.grpc.v2;

import gatun.memory.GatunException;
import gatun.protocol.inference.InferStatistics;
import gatun.protocol.inference.ModelStatisticsResponse;
import gatun.protocol.inference.StatisticDuration;
import gatun.runtime.ModelStatistics;
import java.util.List;

/** The counters of models as ModelStatistics tells them. */
final class StatisticsMessages {
    private StatisticsMessages() {}

    /**
     * The counters of all models, of the versions of one, or of one version.
     *
     * @param name the model; empty for all
     * @param version the version; empty for all
     * @throws GatunException INVALID_ARGUMENT when there is none of that name or version
     */
    static ModelStatisticsResponse of(List<ModelStatistics> all, String name, String version) {
        ModelStatisticsResponse.Builder response = ModelStatisticsResponse.newBuilder();
        boolean nameKnown = false;
        for (ModelStatistics model : all) {
            boolean named = name.isEmpty() || model.name().equals(name);
            nameKnown |= named;
            if (named && (version.isEmpty() || model.version().equals(version))) {
                response.addModelStats(message(model));
            }
        }
        if (!name.isEmpty() && !nameKnown) {
            throw GatunException.invalidArgument("requested model '" + name + "' is not available");
        }
        if (!name.isEmpty() && response.getModelStatsCount() == 0) {
            throw GatunException.invalidArgument("requested model version is not available for model '" + name + "'");
        }
        return response.build();
    }

    private static gatun.protocol.inference.ModelStatistics message(ModelStatistics model) {
        long failures =
                model.failureRejected() + model.failureCanceled() + model.failureBackend() + model.failureOther();
        InferStatistics.Builder times = InferStatistics.newBuilder()
                .setSuccess(duration(model.successCount(), model.requestNanos()))
                .setFail(duration(failures, 0))
                .setQueue(duration(model.successCount(), model.queueNanos()))
                .setComputeInput(duration(model.successCount(), model.computeInputNanos()))
                .setComputeInfer(duration(model.successCount(), model.computeInferNanos()))
                .setComputeOutput(duration(model.successCount(), model.computeOutputNanos()))
                .setCacheHit(duration(0, 0))
                .setCacheMiss(duration(0, 0));
        return gatun.protocol.inference.ModelStatistics.newBuilder()
                .setName(model.name())
                .setVersion(model.version())
                .setInferenceCount(model.inferenceCount())
                .setExecutionCount(model.executionCount())
                .setInferenceStats(times)
                .build();
    }

    private static StatisticDuration duration(long count, long nanos) {
        return StatisticDuration.newBuilder().setCount(count).setNs(nanos).build();
    }
}
