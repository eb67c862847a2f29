package gatun.grpc.tensorflow;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Parser;
import gatun.grpc.message.WireReader;
import gatun.memory.Buffer;
import gatun.memory.BufferPool;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.protocol.tensorflow.serving.ClassificationRequest;
import gatun.protocol.tensorflow.serving.MultiInferenceRequest;
import gatun.protocol.tensorflow.serving.PredictionLog;
import gatun.protocol.tensorflow.serving.RegressionRequest;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.tensorflow.serving.Servable;
import io.grpc.StatusRuntimeException;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;

/**
 * Answers requests that were written down as PredictionLog messages, without a client: the answers are made, so that all that could fail
 * does, and dropped. For one thread.
 */
final class LoggedRequests {
    /** The field of each message of a log that holds the request. */
    private static final int REQUEST = 1;

    private final ModelVersion model;
    private final BufferPool pool;
    private final Function<InferenceRequest, InferenceResponse> instance;
    private final ExampleAnswers examples;
    private final PredictDecoder decoder = new PredictDecoder();

    /**
     * Answers requests to one version, whichever they name.
     *
     * @param instance answers a request and closes it
     */
    LoggedRequests(ModelVersion model, BufferPool pool, Function<InferenceRequest, InferenceResponse> instance) {
        this.model = model;
        this.pool = pool;
        this.instance = instance;
        examples = new ExampleAnswers(new ExampleRuns(pool, instance, null), false);
    }

    /**
     * Answers the request in {@code log}; a log without one, or of a kind that is newer than this, is passed over.
     *
     * @throws GatunException when it is no such message, or the request fails
     */
    void answer(MemorySegment log) {
        Entry entry = parsed(() -> Entry.find(log));
        MemorySegment request = entry.request;
        switch (entry.kind) {
            case PREDICT_LOG -> predict(request);
            case CLASSIFY_LOG -> {
                ClassificationRequest call = message(ClassificationRequest.parser(), request);
                examples.classified(model, Servable.of(call.getModelSpec()), call.getInput());
            }
            case REGRESS_LOG -> {
                RegressionRequest call = message(RegressionRequest.parser(), request);
                examples.regressed(model, Servable.of(call.getModelSpec()), call.getInput());
            }
            case MULTI_INFERENCE_LOG -> {
                MultiInferenceRequest call = message(MultiInferenceRequest.parser(), request);
                ExampleAnswers.requireTasks(call.getTasksList());
                examples.all(model, call);
            }
            case SESSION_RUN_LOG ->
                throw new GatunException(
                        ErrorCode.UNSUPPORTED,
                        "Unsupported log_type for warmup: " + entry.kind.getNumber() + " (a run of the session)");
            case PREDICT_STREAMED_LOG, LOGTYPE_NOT_SET -> {}
        }
    }

    /** Works on a copy, since reading tensors moves them in the message's memory to where engines want them. */
    private void predict(MemorySegment bytes) {
        Buffer copy = pool.copyOf(bytes);
        InferenceRequest request = new InferenceRequest(model);
        request.hold(copy);
        try {
            PredictMessage message = parsed(() -> decoder.decode(copy.segment()));
            PredictExchange.fill(request, message, PredictExchange.signature(message, model), pool);
        } catch (StatusRuntimeException e) {
            request.close();
            throw new GatunException(ErrorCode.INVALID_ARGUMENT, e.getStatus().getDescription(), e);
        } catch (RuntimeException | Error e) {
            request.close();
            throw e;
        }
        instance.apply(request).close();
    }

    /** What a log holds, and where. */
    private record Entry(PredictionLog.LogTypeCase kind, MemorySegment request) {
        static Entry find(MemorySegment log) {
            Entry found = new Entry(PredictionLog.LogTypeCase.LOGTYPE_NOT_SET, MemorySegment.NULL);
            WireReader in = new WireReader(log);
            while (in.hasMore()) {
                int tag = in.tag();
                PredictionLog.LogTypeCase kind = PredictionLog.LogTypeCase.forNumber(WireReader.field(tag));
                if (kind == null || WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                    in.skip(tag);
                } else {
                    int length = in.length();
                    int start = in.advance(length);
                    found = new Entry(kind, request(log.asSlice(start, length)));
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

    private interface Parse<T> {
        T run() throws InvalidProtocolBufferException;
    }

    private static <T> T message(Parser<T> parser, MemorySegment bytes) {
        return parsed(() -> parser.parseFrom(bytes.asByteBuffer()));
    }

    private static <T> T parsed(Parse<T> parse) {
        try {
            return parse.run();
        } catch (GatunException | InvalidProtocolBufferException e) {
            throw new GatunException(ErrorCode.INVALID_ARGUMENT, "Failed to parse warmup record: " + e.getMessage(), e);
        }
    }
}
