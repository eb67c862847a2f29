// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.GatunException;
import gatun.runtime.BatchingRule;
import gatun.runtime.BatchingRules;
import gatun.wire.tensorflow.serving.BatchingParameters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Batching by TensorFlow Serving's parameters: those of one file for all models, or those that each version brings,
 * with the number of threads of the one file. Immutable; reads the files of versions on demand.
 */
public final class BatchingFiles implements BatchingRules {
    private static final String VERSION_FILE = "batching_params.pbtxt";
    private static final long DEFAULT_MAX_BATCH_SIZE = 1000;
    private static final long DEFAULT_MAX_ENQUEUED_BATCHES = 10;

    private final BatchingParameters common;
    private final boolean eachVersion;

    private BatchingFiles(BatchingParameters common, boolean eachVersion) {
        this.common = common;
        this.eachVersion = eachVersion;
    }

    /**
     * The rules of a server.
     *
     * @param file the parameters for all models; empty for the defaults
     * @param eachVersion whether versions bring their own; one without a file of its own is not batched then
     * @throws GatunException INVALID_ARGUMENT when the file cannot be read, or makes no sense
     */
    public static BatchingFiles of(Optional<Path> file, boolean eachVersion) {
        BatchingParameters.Builder common = BatchingParameters.newBuilder();
        file.ifPresent(path -> ServingFile.read(path, common));
        BatchingFiles files = new BatchingFiles(common.build(), eachVersion);
        // Reports errors at the start, and not once for each model.
        files.rule(files.common);
        return files;
    }

    @Override
    public Optional<BatchingRule> of(Path versionDirectory) {
        if (!eachVersion) {
            return Optional.of(rule(common));
        }
        Path file = versionDirectory.resolve(VERSION_FILE);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        BatchingParameters.Builder own = BatchingParameters.newBuilder();
        ServingFile.read(file, own);
        return Optional.of(rule(own.build()));
    }

    private BatchingRule rule(BatchingParameters parameters) {
        int maxBatchSize = positive(
                "max_batch_size",
                parameters.hasMaxBatchSize() ? parameters.getMaxBatchSize().getValue() : DEFAULT_MAX_BATCH_SIZE);
        int maxRunSize = maxRunSize(parameters, maxBatchSize);
        long timeoutMicros = parameters.getBatchTimeoutMicros().getValue();
        if (timeoutMicros < 0) {
            throw GatunException.invalidArgument(
                    "batch_timeout_micros is " + timeoutMicros + "; expected a number of microseconds from 0 up");
        }
        int maxWaiting = positive(
                "max_enqueued_batches",
                parameters.hasMaxEnqueuedBatches()
                        ? parameters.getMaxEnqueuedBatches().getValue()
                        : DEFAULT_MAX_ENQUEUED_BATCHES);
        int threads = positive(
                "num_batch_threads",
                common.hasNumBatchThreads()
                        ? common.getNumBatchThreads().getValue()
                        : Runtime.getRuntime().availableProcessors());
        return new BatchingRule(
                maxBatchSize,
                maxRunSize,
                TimeUnit.MICROSECONDS.toNanos(timeoutMicros),
                maxWaiting,
                threads,
                runSizes(parameters, maxRunSize),
                parameters.getPadVariableLengthInputs());
    }

    private static int maxRunSize(BatchingParameters parameters, int maxBatchSize) {
        if (!parameters.getEnableLargeBatchSplitting().getValue() || !parameters.hasMaxExecutionBatchSize()) {
            return maxBatchSize;
        }
        int size = positive(
                "max_execution_batch_size",
                parameters.getMaxExecutionBatchSize().getValue());
        if (size > maxBatchSize) {
            throw GatunException.invalidArgument("max_execution_batch_size is " + size
                    + ", more than max_batch_size, which is " + maxBatchSize + "; expected at most that");
        }
        return size;
    }

    /** The sizes that runs are padded to; the last is the greatest that a run can have. */
    private static List<Integer> runSizes(BatchingParameters parameters, int maxRunSize) {
        List<Integer> sizes = new ArrayList<>();
        for (long size : parameters.getAllowedBatchSizesList()) {
            if (!sizes.isEmpty() && size <= sizes.getLast()) {
                throw GatunException.invalidArgument("allowed_batch_sizes entries must be monotonically increasing; "
                        + size + " comes after " + sizes.getLast());
            }
            sizes.add(positive("an entry of allowed_batch_sizes", size));
        }
        if (!sizes.isEmpty() && sizes.getLast() != maxRunSize) {
            String limit = parameters.getEnableLargeBatchSplitting().getValue() && parameters.hasMaxExecutionBatchSize()
                    ? "max_execution_batch_size"
                    : "max_batch_size";
            throw GatunException.invalidArgument("Last entry in allowed_batch_sizes must match " + limit
                    + "; last entry was " + sizes.getLast() + "; expected " + maxRunSize);
        }
        return sizes;
    }

    private static int positive(String name, long value) {
        if (value < 1 || value > Integer.MAX_VALUE) {
            throw GatunException.invalidArgument(
                    name + " is " + value + "; expected a number from 1 to " + Integer.MAX_VALUE);
        }
        return (int) value;
    }
}
