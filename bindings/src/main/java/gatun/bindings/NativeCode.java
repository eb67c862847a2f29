// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.onnxruntime.onnxruntime_h;

/** The kind of error that a native library reported. */
public enum NativeCode {
    /** It gave no better reason. */
    FAILED(onnxruntime_h.ORT_FAIL()),
    /** An argument does not fit the model or the call. */
    INVALID_ARGUMENT(onnxruntime_h.ORT_INVALID_ARGUMENT()),
    /** A file is not there. */
    NO_SUCH_FILE(onnxruntime_h.ORT_NO_SUCHFILE()),
    /** There is no model. */
    NO_MODEL(onnxruntime_h.ORT_NO_MODEL()),
    /** The engine failed inside. */
    ENGINE_ERROR(onnxruntime_h.ORT_ENGINE_ERROR()),
    /** The engine threw while it ran. */
    RUNTIME_EXCEPTION(onnxruntime_h.ORT_RUNTIME_EXCEPTION()),
    /** The model file is not what it should be. */
    INVALID_PROTOBUF(onnxruntime_h.ORT_INVALID_PROTOBUF()),
    /** The model was loaded before. */
    MODEL_LOADED(onnxruntime_h.ORT_MODEL_LOADED()),
    /** The engine cannot do this. */
    UNSUPPORTED(onnxruntime_h.ORT_NOT_IMPLEMENTED()),
    /** The model's graph is wrong, or uses an operator that the engine lacks. */
    INVALID_GRAPH(onnxruntime_h.ORT_INVALID_GRAPH()),
    /** An execution provider failed. */
    PROVIDER_FAILED(onnxruntime_h.ORT_EP_FAIL()),
    /** Loading was called off. */
    LOAD_CANCELLED(onnxruntime_h.ORT_MODEL_LOAD_CANCELED()),
    /** The model must be compiled first. */
    REQUIRES_COMPILATION(onnxruntime_h.ORT_MODEL_REQUIRES_COMPILATION()),
    /** Something named is not there. */
    NOT_FOUND(onnxruntime_h.ORT_NOT_FOUND()),
    /** The device was reset. */
    DEVICE_RESET(onnxruntime_h.ORT_DEVICE_RESET()),
    /** The library is older than the interface that Gatun was built for. */
    VERSION_TOO_OLD(NativeCode.NO_ORT_CODE),
    /** A code that this version of Gatun does not know; the message still says what happened. */
    UNKNOWN(NativeCode.NO_ORT_CODE);

    private static final int NO_ORT_CODE = Integer.MIN_VALUE;

    private final int ortCode;

    NativeCode(int ortCode) {
        this.ortCode = ortCode;
    }

    static NativeCode ofOrt(int ortCode) {
        for (NativeCode code : values()) {
            if (code.ortCode == ortCode && ortCode != NO_ORT_CODE) {
                return code;
            }
        }
        return UNKNOWN;
    }
}
