// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.WarmUpSource;
import gatun.runtime.limits.LimitSettings;
import gatun.wire.inference.ModelConfig;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The warm-up requests of TensorFlow Serving: a file of records beside a model's files, whatever their format, each a
 * PredictionLog with a request that is answered as if a client had sent it. Safe for any thread.
 */
public final class WarmUpRecords implements WarmUpSource {
    private static final Logger LOG = LoggerFactory.getLogger(WarmUpRecords.class);

    private static final String FILE = "assets.extra/tf_serving_warmup_requests";

    private static final int MAX_RECORDS = 1000;

    private final BufferPool pool;
    private final LimitSettings limits;
    private final int iterations;

    /**
     * Reads records into memory of {@code pool}.
     *
     * @param limits the limits of one of their requests, as if a client had sent it
     * @param iterations how often each request is sent; at least 1
     */
    public WarmUpRecords(BufferPool pool, LimitSettings limits, int iterations) {
        this.pool = pool;
        this.limits = limits;
        this.iterations = Math.max(1, iterations);
    }

    @Override
    public void send(ModelVersion version, Path directory, Function<InferenceRequest, InferenceResponse> instance) {
        Optional<Path> file = find(version.config(), directory);
        if (file.isEmpty()) {
            return;
        }
        LoggedRequests requests = new LoggedRequests(version, pool, limits, instance);
        int count = 0;
        try (RecordFile records = RecordFile.open(file.get(), pool)) {
            Optional<RecordFile.Entry> next = records.next();
            while (next.isPresent()) {
                count++;
                try (RecordFile.Entry record = next.get()) {
                    answer(requests, record, count);
                }
                if (count > MAX_RECORDS) {
                    throw GatunException.invalidArgument(
                            "Number of warmup records exceeds the maximum (" + MAX_RECORDS + ") at " + FILE);
                }
                next = records.next();
            }
        } catch (RecordFile.DamagedException e) {
            throw new GatunException(
                    ErrorCode.INVALID_ARGUMENT,
                    FILE + ": " + e.getMessage() + ". Please verify your warmup data is in TFRecord format.",
                    e);
        } catch (UncheckedIOException e) {
            throw new GatunException(
                    ErrorCode.INVALID_ARGUMENT,
                    FILE + " cannot be read: "
                            + Objects.requireNonNull(e.getCause()).getMessage(),
                    e);
        }
        LOG.info("Model '{}' version {} answered {} warm-up requests", version.name(), version.versionText(), count);
    }

    private void answer(LoggedRequests requests, RecordFile.Entry record, int number) {
        try {
            for (int i = 0; i < iterations; i++) {
                requests.answer(record.bytes());
            }
        } catch (GatunException e) {
            throw new GatunException(e.code(), "warmup request " + number + ": " + e.getMessage(), e);
        }
    }

    /**
     * The file beside a model's files: in the version's directory, or in the folder that is the model, as in Triton's
     * layout.
     */
    private static Optional<Path> find(ModelConfig config, Path directory) {
        return Stream.of(directory, directory.resolve(config.getDefaultModelFilename()))
                .map(place -> place.resolve(FILE))
                .filter(Files::isRegularFile)
                .findFirst();
    }
}
