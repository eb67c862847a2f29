package gatun.grpc.v2;

import gatun.protocol.inference.InferBatchStatistics;
import gatun.protocol.inference.InferStatistics;
import gatun.protocol.inference.ModelStatisticsResponse;
import gatun.protocol.inference.StatisticDuration;
import gatun.runtime.BatchStatistics;
import gatun.runtime.ModelStatistics;
import java.util.List;

/** The counters of models as ModelStatistics tells them. */
final class StatisticsMessages {
    private StatisticsMessages() {}

    /** The counters of {@code models}. */
    static ModelStatisticsResponse of(List<ModelStatistics> models) {
        ModelStatisticsResponse.Builder response = ModelStatisticsResponse.newBuilder();
        models.forEach(model -> response.addModelStats(message(model)));
        return response.build();
    }

    private static gatun.protocol.inference.ModelStatistics message(ModelStatistics model) {
        InferStatistics.Builder times = InferStatistics.newBuilder()
                .setSuccess(duration(model.successCount(), model.requestNanos()))
                .setFail(duration(model.failureCount(), model.failureNanos()))
                .setQueue(duration(model.successCount(), model.queueNanos()))
                .setComputeInput(duration(model.successCount(), model.computeInputNanos()))
                .setComputeInfer(duration(model.successCount(), model.computeInferNanos()))
                .setComputeOutput(duration(model.successCount(), model.computeOutputNanos()))
                .setCacheHit(duration(0, 0))
                .setCacheMiss(duration(0, 0));
        gatun.protocol.inference.ModelStatistics.Builder message = gatun.protocol.inference.ModelStatistics.newBuilder()
                .setName(model.name())
                .setVersion(model.version())
                .setLastInference(model.lastInferenceMillis())
                .setInferenceCount(model.inferenceCount())
                .setExecutionCount(model.executionCount())
                .setInferenceStats(times);
        for (BatchStatistics batch : model.batches()) {
            message.addBatchStats(InferBatchStatistics.newBuilder()
                    .setBatchSize(batch.batchSize())
                    .setComputeInput(duration(batch.executionCount(), batch.computeInputNanos()))
                    .setComputeInfer(duration(batch.executionCount(), batch.computeInferNanos()))
                    .setComputeOutput(duration(batch.executionCount(), batch.computeOutputNanos())));
        }
        return message.build();
    }

    private static StatisticDuration duration(long count, long nanos) {
        return StatisticDuration.newBuilder().setCount(count).setNs(nanos).build();
    }
}
