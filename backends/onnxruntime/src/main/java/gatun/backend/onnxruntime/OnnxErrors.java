package gatun.backend.onnxruntime;

import gatun.bindings.NativeCode;
import gatun.bindings.NativeException;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;

/** The one table from ONNX Runtime's failures to Gatun's. */
final class OnnxErrors {
    private OnnxErrors() {}

    /** The failure of a run: the client's when the engine says that an argument does not fit, else the engine's. */
    static GatunException ofRun(NativeException failure) {
        ErrorCode code =
                failure.code() == NativeCode.INVALID_ARGUMENT ? ErrorCode.INVALID_ARGUMENT : ErrorCode.INTERNAL;
        return new GatunException(code, "onnx runtime error: " + text(failure), failure);
    }

    /** The failure to load a model: it is the model file's fault, or its configuration's. */
    static GatunException ofLoad(NativeException failure, String what) {
        ErrorCode code =
                switch (failure.code()) {
                    case NO_SUCH_FILE, NO_MODEL, NOT_FOUND -> ErrorCode.NOT_FOUND;
                    case INVALID_ARGUMENT, INVALID_PROTOBUF, INVALID_GRAPH, UNSUPPORTED, FAILED ->
                        ErrorCode.INVALID_ARGUMENT;
                    case ENGINE_ERROR,
                            RUNTIME_EXCEPTION,
                            MODEL_LOADED,
                            PROVIDER_FAILED,
                            LOAD_CANCELLED,
                            REQUIRES_COMPILATION,
                            DEVICE_RESET,
                            VERSION_TOO_OLD,
                            UNKNOWN -> ErrorCode.INTERNAL;
                };
        String reason = failure.code() == NativeCode.INVALID_PROTOBUF
                ? what + " is not a valid ONNX file: " + text(failure)
                : "cannot load " + what + ": " + text(failure);
        return new GatunException(code, reason, failure);
    }

    /** The engine's text in one line. */
    private static String text(NativeException failure) {
        return String.valueOf(failure.getMessage()).strip().replaceAll("\\s*\\n\\s*", " ");
    }
}
