// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static gatun.http.openapi.Operation.OCTETS;
import static gatun.http.openapi.Operation.returning;
import static gatun.http.openapi.Operation.returningNothing;
import static gatun.http.openapi.Schema.ANY;
import static gatun.http.openapi.Schema.BOOLEAN;
import static gatun.http.openapi.Schema.BYTES;
import static gatun.http.openapi.Schema.COUNT;
import static gatun.http.openapi.Schema.INTEGER;
import static gatun.http.openapi.Schema.NUMBER;
import static gatun.http.openapi.Schema.OBJECT;
import static gatun.http.openapi.Schema.STRING;
import static gatun.http.openapi.Schema.UNSIGNED;
import static gatun.http.openapi.Schema.arrayOf;
import static gatun.http.openapi.Schema.mapOf;
import static gatun.http.openapi.Schema.object;
import static gatun.http.openapi.Schema.oneOf;

import gatun.http.openapi.Operation;
import gatun.http.openapi.Schema;
import gatun.memory.lane.LaneGeometry;
import gatun.memory.tensor.Datatype;
import gatun.runtime.logging.LogSettings.LogFormat;
import java.util.Arrays;

/** What the paths of the v2 protocol take and answer. */
public final class V2Operations {
    private static final String EVENT_STREAM = "text/event-stream";

    private static final Schema DATATYPE = oneOf(Arrays.stream(Datatype.values())
                    .filter(datatype -> datatype != Datatype.INVALID)
                    .map(Datatype::wireName)
                    .toArray(String[]::new))
            .named("Datatype");
    private static final Schema PARAMETERS = mapOf(Schema.anyOf(STRING, BOOLEAN, NUMBER));
    private static final Schema REGION = OBJECT.optional("shared_memory_region", STRING)
            .optional("shared_memory_offset", UNSIGNED)
            .optional("shared_memory_byte_size", UNSIGNED);
    private static final Schema DATA =
            arrayOf(ANY).described("The elements, row after row; may also be nested as the shape is");

    private static final Schema INFER_INPUT = object("InferInput")
            .required("name", STRING)
            .required("datatype", DATATYPE)
            .required("shape", arrayOf(COUNT))
            .optional("parameters", REGION.optional("binary_data_size", UNSIGNED))
            .optional("data", DATA);
    private static final Schema INFER_REQUEST = object("InferRequest")
            .required("inputs", arrayOf(INFER_INPUT))
            .optional("id", STRING)
            .optional(
                    "parameters",
                    PARAMETERS
                            .optional("sequence_id", Schema.anyOf(UNSIGNED, STRING))
                            .optional("sequence_start", BOOLEAN)
                            .optional("sequence_end", BOOLEAN)
                            .optional("priority", UNSIGNED)
                            .optional("timeout", UNSIGNED.described("Microseconds"))
                            .optional("binary_data_output", BOOLEAN))
            .optional(
                    "outputs",
                    arrayOf(object("InferRequestedOutput")
                            .required("name", STRING)
                            .optional(
                                    "parameters",
                                    REGION.optional("binary_data", BOOLEAN).optional("classification", UNSIGNED))));
    private static final Schema INFER_RESPONSE = object("InferResponse")
            .required("model_name", STRING)
            .required("model_version", STRING)
            .required(
                    "outputs",
                    arrayOf(object("InferOutput")
                            .required("name", STRING)
                            .required("datatype", DATATYPE)
                            .required("shape", arrayOf(COUNT))
                            .optional("parameters", OBJECT)
                            .optional("data", arrayOf(ANY))))
            .optional("id", STRING)
            .optional("parameters", PARAMETERS);

    /** Inference. Bytes may follow the JSON, whose length a header tells then. */
    public static final Operation INFER = ofModel(inferring(OCTETS)
                    .readingHeader(
                            "Inference-Header-Content-Length",
                            COUNT.to(Integer.MAX_VALUE)
                                    .described(
                                            "How many bytes of the body are JSON, where the bytes of tensors follow")))
            .failing(413, 501);

    private static final Schema GENERATE_REQUEST = object("GenerateRequest")
            .optional("id", STRING)
            .optional("parameters", OBJECT)
            .described("Besides these, a member for each input: an element, or a flat array of them");

    /** Inference from plain JSON. */
    public static final Operation GENERATE = ofModel(returning(object("GenerateResponse")
                            .required("model_name", STRING)
                            .required("model_version", STRING)
                            .optional("id", STRING)
                            .described("Besides these, a member for each output: an element, or a flat array of them"))
                    .taking(GENERATE_REQUEST))
            .failing(413, 501);

    /** The same with a stream of responses, or of one failure whose status is that of the response. */
    public static final Operation GENERATE_STREAM = ofModel(
                    Operation.refusing().orReturning(EVENT_STREAM, STRING).taking(GENERATE_REQUEST))
            .failing(413, 501)
            .failing(EVENT_STREAM, STRING, 400, 413, 500, 501, 503);

    private static final Schema LIVENESS = object("Liveness").required("live", BOOLEAN);
    private static final Schema READINESS = object("Readiness").required("ready", BOOLEAN);

    /** Whether the server is live. */
    public static final Operation LIVE = returning(LIVENESS).failing(Operation.JSON, LIVENESS, 400);

    /** Whether the server is ready. */
    public static final Operation READY = returning(READINESS).failing(Operation.JSON, READINESS, 400);

    static final Operation SERVER = returning(object("ServerMetadata")
            .required("name", STRING)
            .required("version", STRING)
            .required("extensions", arrayOf(STRING)));

    private static final Schema TENSOR_METADATA = object("TensorMetadata")
            .required("name", STRING)
            .required("datatype", DATATYPE)
            .required("shape", arrayOf(INTEGER.from(-1).described("-1 is any number")));
    static final Operation MODEL = ofModel(returning(object("ModelMetadata")
            .required("name", STRING)
            .required("versions", arrayOf(STRING))
            .required("platform", STRING)
            .required("inputs", arrayOf(TENSOR_METADATA))
            .required("outputs", arrayOf(TENSOR_METADATA))));
    static final Operation MODEL_OPENAPI = ofModel(returning(OBJECT));
    static final Operation MODEL_READY = returning(
                    READINESS.named("ModelReadiness").required("name", STRING))
            .failing(400, 404);
    static final Operation CONFIG = ofModel(returning(object("ModelConfig")
            .required("name", STRING)
            .required("platform", STRING)
            .required("input", arrayOf(OBJECT))
            .required("output", arrayOf(OBJECT))));

    private static final Schema DURATION =
            object("StatisticDuration").required("count", COUNT).required("ns", COUNT);
    static final Operation ALL_STATISTICS = returning(object("ModelStatistics")
                    .required(
                            "model_stats",
                            arrayOf(OBJECT.required("name", STRING)
                                    .required("version", STRING)
                                    .required("last_inference", COUNT)
                                    .required("inference_count", COUNT)
                                    .required("execution_count", COUNT)
                                    .required("inference_stats", mapOf(DURATION))
                                    .required("response_stats", mapOf(mapOf(DURATION)))
                                    .required("batch_stats", arrayOf(OBJECT))
                                    .required("memory_usage", arrayOf(OBJECT)))))
            .failing(413);
    static final Operation STATISTICS = ALL_STATISTICS.failing(400, 404);

    static final Operation INDEX = returning(arrayOf(object("RepositoryModel")
                    .required("name", STRING)
                    .optional("version", STRING)
                    .optional("state", oneOf("LOADING", "READY", "UNLOADING", "UNAVAILABLE"))
                    .optional("reason", STRING)))
            .takingPerhaps(object("RepositoryIndexRequest").optional("ready", BOOLEAN))
            .failing(400, 413);
    static final Operation LOAD = changing(object("LoadRequest")
            .optional(
                    "parameters",
                    mapOf(STRING)
                            .optional("config", STRING.described("The model's configuration, as JSON"))
                            .described("Besides it, members \"file:PATH\" with the model's files in base64")));
    static final Operation UNLOAD =
            changing(object("UnloadRequest").optional("parameters", OBJECT.optional("unload_dependents", BOOLEAN)));

    private static final Schema REGION_STATUS =
            object("SystemRegion").required("name", STRING).required("byte_size", UNSIGNED);
    static final Operation SYSTEM_STATUS =
            ofRegion(returning(arrayOf(REGION_STATUS.required("key", STRING).required("offset", UNSIGNED))));
    static final Operation CUDA_STATUS =
            ofRegion(returning(arrayOf(REGION_STATUS.named("CudaRegion").required("device_id", UNSIGNED))));
    static final Operation SYSTEM_REGISTER = ofRegion(returningNothing()
                    .taking(object("SystemRegistration")
                            .required("key", STRING.described("The name of the POSIX shared memory, such as \"/data\""))
                            .required("byte_size", UNSIGNED)
                            .optional("offset", UNSIGNED)))
            .failing(413);
    static final Operation CUDA_REGISTER = ofRegion(returningNothing()
                    .taking(object("CudaRegistration")
                            .required(
                                    "raw_handle",
                                    OBJECT.required("b64", Schema.BASE64.described("A cudaIpcMemHandle_t")))
                            .required("device_id", UNSIGNED)
                            .required("byte_size", UNSIGNED)))
            .failing(413);
    static final Operation UNREGISTER = ofRegion(returningNothing());

    private static final Schema COUNT_TEXT = STRING.matching("^[0-9]{1,9}$");
    private static final Schema RATE_TEXT = STRING.matching("^[1-9][0-9]{0,8}$");
    private static final Schema LIMIT_TEXT = STRING.matching("^(-1|[0-9]{1,9})$");
    static final Operation TRACE = returning(object("TraceSettings")
            .required("trace_level", arrayOf(STRING))
            .required("trace_rate", STRING)
            .required("trace_count", STRING)
            .required("trace_mode", STRING)
            .optional("log_frequency", STRING)
            .optional("trace_file", STRING));
    static final Operation TRACE_CHANGE = TRACE.takingPerhaps(object("TraceChange")
                    .optional(
                            "trace_level",
                            arrayOf(oneOf("OFF", "TIMESTAMPS", "TENSORS")).nullable())
                    .optional("trace_rate", RATE_TEXT.nullable())
                    .optional("trace_count", LIMIT_TEXT.nullable())
                    .optional("log_frequency", COUNT_TEXT.nullable()))
            .failing(400, 413, 501);
    static final Operation MODEL_TRACE = TRACE.failing(400);

    private static final Schema LOG_SETTINGS = object("LogChange")
            .optional("log_info", BOOLEAN.nullable())
            .optional("log_warning", BOOLEAN.nullable())
            .optional("log_error", BOOLEAN.nullable())
            .optional("log_verbose_level", UNSIGNED.nullable())
            .optional(
                    "log_format",
                    oneOf(Arrays.stream(LogFormat.values())
                                    .map(LogFormat::wireName)
                                    .toArray(String[]::new))
                            .nullable());
    static final Operation LOG = returning(object("LogSettings")
            .required("log_file", STRING)
            .required("log_info", BOOLEAN)
            .required("log_warning", BOOLEAN)
            .required("log_error", BOOLEAN)
            .required("log_verbose_level", UNSIGNED)
            .required("log_format", STRING));
    static final Operation LOG_CHANGE = LOG.takingPerhaps(LOG_SETTINGS).failing(400, 413, 501, 503);

    static final Operation LANE_OPEN = returning(
                    object("Lane").required("lane", STRING).required("prepared_limit", COUNT))
            .taking(object("LaneOpening")
                    .required("key", STRING.described("The name of the POSIX shared memory, such as \"/lane\""))
                    .optional("slots", COUNT.from(1).to(LaneGeometry.MAX_SLOTS).described("A power of two"))
                    .optional("tensors", COUNT.from(1).to(LaneGeometry.MAX_TENSORS))
                    .optional("data_byte_size", COUNT.to(LaneGeometry.MAX_DATA_BYTE_SIZE)))
            .failing(400, 404, 413, 501, 503);
    static final Operation LANE_PREPARE = returning(
                    object("LaneRequest").required("prepared", COUNT).required("outputs", arrayOf(STRING)))
            .taking(object("LanePreparation")
                    .optional("id", STRING)
                    .optional("parameters", PARAMETERS)
                    .optional("inputs", arrayOf(OBJECT.required("name", STRING).required("datatype", DATATYPE)))
                    .optional(
                            "outputs",
                            arrayOf(OBJECT.required("name", STRING)
                                    .optional("parameters", OBJECT.optional("classification", UNSIGNED))))
                    .optional("regions", arrayOf(STRING)))
            .failing(400, 404, 413, 501, 503);
    static final Operation LANE_DROP = returningNothing()
            .taking(object("LaneDropping").required("prepared", UNSIGNED))
            .failing(400, 404, 413, 501);

    private V2Operations() {}

    /** Inference whose requests and responses have bytes of tensors behind their JSON where {@code binary} says so. */
    public static Operation inferring(String binary) {
        return returning(INFER_RESPONSE)
                .orReturning(binary, BYTES)
                .taking(INFER_REQUEST)
                .taking(binary, BYTES);
    }

    private static Operation ofModel(Operation operation) {
        return operation.failing(400, 404, 503);
    }

    private static Operation ofRegion(Operation operation) {
        return operation.failing(400, 404, 501);
    }

    private static Operation changing(Schema request) {
        return returningNothing().takingPerhaps(request).failing(400, 404, 413, 501, 503);
    }
}
