// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.ResponseStatistics;
import gatun.wire.inference.InferBatchStatistics;
import gatun.wire.inference.InferResponseStatistics;
import gatun.wire.inference.InferStatistics;
import gatun.wire.inference.ModelStatisticsResponse;
import gatun.wire.inference.StatisticDuration;
import java.util.List;

/** The counters of models as ModelStatistics tells them. */
public final class StatisticsMessages {
    private StatisticsMessages() {}

    /** The counters of {@code models}. */
    public static ModelStatisticsResponse of(List<ModelStatistics> models) {
        ModelStatisticsResponse.Builder response = ModelStatisticsResponse.newBuilder();
        models.forEach(model -> response.addModelStats(message(model)));
        return response.build();
    }

    private static gatun.wire.inference.ModelStatistics message(ModelStatistics model) {
        InferStatistics.Builder times = InferStatistics.newBuilder()
                .setSuccess(
                        duration(model.successCount(), model.totals().nanos().request()))
                .setFail(
                        duration(model.failureCount(), model.totals().failures().nanos()))
                .setQueue(duration(model.successCount(), model.totals().nanos().queue()))
                .setComputeInput(
                        duration(model.computedCount(), model.totals().nanos().computeInput()))
                .setComputeInfer(
                        duration(model.computedCount(), model.totals().nanos().computeInfer()))
                .setComputeOutput(
                        duration(model.computedCount(), model.totals().nanos().computeOutput()))
                .setCacheHit(duration(model.cache().hitCount(), model.cache().hitNanos()))
                .setCacheMiss(duration(model.cache().missCount(), model.cache().missNanos()));
        gatun.wire.inference.ModelStatistics.Builder message = gatun.wire.inference.ModelStatistics.newBuilder()
                .setName(model.name())
                .setVersion(model.version())
                .setLastInference(model.totals().lastInferenceMillis())
                .setInferenceCount(model.totals().inferenceCount())
                .setExecutionCount(model.executionCount())
                .setInferenceStats(times);
        for (BatchStatistics batch : model.batches()) {
            message.addBatchStats(InferBatchStatistics.newBuilder()
                    .setBatchSize(batch.batchSize())
                    .setComputeInput(duration(batch.executionCount(), batch.computeInputNanos()))
                    .setComputeInfer(duration(batch.executionCount(), batch.computeInferNanos()))
                    .setComputeOutput(duration(batch.executionCount(), batch.computeOutputNanos())));
        }
        for (int place = 0; place < model.responses().size(); place++) {
            message.putResponseStats(
                    Integer.toString(place), message(model.responses().get(place)));
        }
        return message.build();
    }

    private static InferResponseStatistics message(ResponseStatistics responses) {
        return InferResponseStatistics.newBuilder()
                .setComputeInfer(duration(responses.computeInfer()))
                .setComputeOutput(duration(responses.computeOutput()))
                .setSuccess(duration(responses.success()))
                .setFail(duration(responses.fail()))
                .setEmptyResponse(duration(responses.empty()))
                .setCancel(duration(responses.cancel()))
                .build();
    }

    private static StatisticDuration duration(ResponseStatistics.Total total) {
        return duration(total.count(), total.nanos());
    }

    private static StatisticDuration duration(long count, long nanos) {
        return StatisticDuration.newBuilder().setCount(count).setNs(nanos).build();
    }
}
