// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.WireReader;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.WarmUpSource;
import gatun.runtime.limits.LimitSettings;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.wire.inference.ModelConfig;
import gatun.wire.tensorflow.serving.PredictionLog;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
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

    /** Reads records into {@code pool}; each request keeps to {@code limits} and is sent once at least. */
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

    /** The file in the version's directory, or in the folder that is the model, as in Triton's layout. */
    private static Optional<Path> find(ModelConfig config, Path directory) {
        return Stream.of(directory, directory.resolve(config.getDefaultModelFilename()))
                .map(place -> place.resolve(FILE))
                .filter(Files::isRegularFile)
                .findFirst();
    }

    /** Runs requests of PredictionLog messages, and drops the responses once made. Not thread-safe. */
    static final class LoggedRequests {
        /** The field of each message of a log that holds the request. */
        private static final int REQUEST = 1;

        private final ModelVersion model;
        private final BufferPool pool;
        private final Function<InferenceRequest, InferenceResponse> instance;
        private final ExampleResponses examples;
        private final PredictDecoder predictions;
        private final ExampleDecoder decoder;

        /** Answers requests to one version, whichever they name; {@code instance} answers a request and closes it. */
        LoggedRequests(
                ModelVersion model,
                BufferPool pool,
                LimitSettings limits,
                Function<InferenceRequest, InferenceResponse> instance) {
            this.model = model;
            this.pool = pool;
            this.instance = instance;
            examples = new ExampleResponses(new ExampleRuns(pool, instance, null), false);
            HeapBudget heap = new HeapBudget(limits.heapByteSize());
            predictions = new PredictDecoder(limits.request(), heap);
            decoder = new ExampleDecoder(limits.request(), heap);
        }

        /** Answers the request in {@code log}; passes over a log without one or of a newer kind. Throws if it fails. */
        void answer(MemorySegment log) {
            LogEntry entry = parsed(() -> LogEntry.find(log));
            MemorySegment request = entry.request;
            switch (entry.kind) {
                case PREDICT_LOG -> predict(request);
                case CLASSIFY_LOG -> judge(ExampleMethod.CLASSIFY, request);
                case REGRESS_LOG -> judge(ExampleMethod.REGRESS, request);
                case MULTI_INFERENCE_LOG -> {
                    try (ExampleMessage call = parsed(() -> decoder.decodeTasks(request))) {
                        ExampleResponses.requireTasks(call.tasks);
                        examples.answerTasks(model, call).close();
                    }
                }
                case SESSION_RUN_LOG ->
                    throw new GatunException(
                            ErrorCode.UNSUPPORTED,
                            "Unsupported log_type for warmup: " + entry.kind.getNumber() + " (a run of the session)");
                case PREDICT_STREAMED_LOG, LOGTYPE_NOT_SET -> {}
            }
        }

        private void judge(ExampleMethod method, MemorySegment request) {
            try (ExampleMessage call = parsed(() -> decoder.decode(request))) {
                examples.answer(model, method, call).close();
            }
        }

        /** Works on a copy, since reading tensors moves them in the message's memory to where engines want them. */
        private void predict(MemorySegment bytes) {
            Buffer copy = pool.copyOf(bytes);
            InferenceRequest request = new InferenceRequest(model);
            request.hold(copy);
            try {
                PredictMessage message = parsed(() -> predictions.decode(copy.segment()));
                PredictExchange.fill(request, message, PredictExchange.signature(message, model), pool);
            } catch (StatusRuntimeException e) {
                request.close();
                throw new GatunException(
                        ErrorCode.INVALID_ARGUMENT, e.getStatus().getDescription(), e);
            } catch (RuntimeException | Error e) {
                request.close();
                throw e;
            }
            instance.apply(request).close();
        }

        private record LogEntry(PredictionLog.LogTypeCase kind, MemorySegment request) {
            static LogEntry find(MemorySegment log) {
                LogEntry found = new LogEntry(PredictionLog.LogTypeCase.LOGTYPE_NOT_SET, MemorySegment.NULL);
                WireReader in = new WireReader(log);
                while (in.hasMore()) {
                    int tag = in.tag();
                    PredictionLog.LogTypeCase kind = PredictionLog.LogTypeCase.forNumber(WireReader.field(tag));
                    if (kind == null || WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                        in.skip(tag);
                    } else {
                        int length = in.length();
                        int start = in.advance(length);
                        found = new LogEntry(kind, request(log.asSlice(start, length)));
                    }
                }
                return found;
            }

            private static MemorySegment request(MemorySegment entry) {
                MemorySegment request = MemorySegment.NULL;
                WireReader in = new WireReader(entry);
                while (in.hasMore()) {
                    int tag = in.tag();
                    if (tag == (REQUEST << 3 | WireReader.LENGTH_DELIMITED)) {
                        int length = in.length();
                        request = entry.asSlice(in.advance(length), length);
                    } else {
                        in.skip(tag);
                    }
                }
                return request;
            }
        }

        private static <T> T parsed(Supplier<T> parse) {
            try {
                return parse.get();
            } catch (GatunException e) {
                throw new GatunException(
                        ErrorCode.INVALID_ARGUMENT, "Failed to parse warmup record: " + e.getMessage(), e);
            }
        }
    }

    /** Reads TFRecord files record by record: length, checksum, bytes, checksum. Not thread-safe. */
    static final class RecordFile implements AutoCloseable {
        private static final int LENGTH_BYTES = Long.BYTES;
        private static final int CHECKSUM_BYTES = Integer.BYTES;
        private static final int HEAD_BYTES = LENGTH_BYTES + CHECKSUM_BYTES;

        /** A checksum in the file is turned and raised, so that a record may hold records. */
        private static final int TURNED_BITS = 15;

        private static final int RAISED_BY = 0xa282ead8;

        private final FileChannel file;
        private final BufferPool pool;
        private final ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        private final ByteBuffer foot = ByteBuffer.allocate(CHECKSUM_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        private long position;

        /** A record is not what was written; the text says where it begins. */
        static final class DamagedException extends RuntimeException {
            private static final long serialVersionUID = 1;

            DamagedException(String text) {
                super(text);
            }
        }

        /** One record; whoever got it closes it. {@code bytes} is the record itself. */
        record Entry(MemorySegment bytes, Hold memory) implements AutoCloseable {
            @Override
            public void close() {
                memory.close();
            }
        }

        private RecordFile(FileChannel file, BufferPool pool) {
            this.file = file;
            this.pool = pool;
        }

        /** Opens a file at its first record. Throws {@link UncheckedIOException} when it cannot be opened. */
        static RecordFile open(Path path, BufferPool pool) {
            try {
                return new RecordFile(FileChannel.open(path), pool);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** The next record, in memory of the pool; empty at the end. Throws DamagedException when it is not whole. */
        Optional<Entry> next() {
            try {
                long left = file.size() - position;
                if (left == 0) {
                    return Optional.empty();
                }
                if (left < HEAD_BYTES) {
                    throw damaged("truncated");
                }
                read(head);
                long length = head.getLong(0);
                if (head.getInt(LENGTH_BYTES) != checksum(head.limit(LENGTH_BYTES)) || length < 0) {
                    throw damaged("corrupted");
                }
                if (length > left - HEAD_BYTES - CHECKSUM_BYTES || length > Integer.MAX_VALUE) {
                    throw damaged("truncated");
                }
                return Optional.of(body((int) length));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private Entry body(int length) throws IOException {
            Buffer buffer = pool.take(Math.max(1, length));
            try {
                MemorySegment bytes = buffer.segment().asSlice(0, length);
                ByteBuffer target = bytes.asByteBuffer();
                read(target);
                read(foot);
                if (foot.getInt(0) != checksum(target)) {
                    throw damaged("corrupted");
                }
                position += (long) HEAD_BYTES + length + CHECKSUM_BYTES;
                return new Entry(bytes, buffer);
            } catch (IOException | RuntimeException | Error e) {
                buffer.close();
                throw e;
            }
        }

        /** Fills a buffer from the start and leaves it to be read from there. */
        private void read(ByteBuffer target) throws IOException {
            target.clear();
            while (target.hasRemaining()) {
                if (file.read(target) < 0) {
                    throw damaged("truncated");
                }
            }
            target.flip();
        }

        private static int checksum(ByteBuffer bytes) {
            CRC32C checksum = new CRC32C();
            checksum.update(bytes);
            return Integer.rotateRight((int) checksum.getValue(), TURNED_BITS) + RAISED_BY;
        }

        private DamagedException damaged(String how) {
            return new DamagedException(how + " record at " + position);
        }

        @Override
        public void close() {
            try {
                file.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
