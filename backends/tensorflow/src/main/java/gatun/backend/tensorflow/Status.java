// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.NativeMemory;
import gatun.bindings.tensorflow.tensorflow_h;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;

/** Owns one {@code TF_Status}, and translates TensorFlow's codes to ours. Not thread-safe. */
final class Status implements AutoCloseable {
    private final MemorySegment handle = tensorflow_h.TF_NewStatus();

    MemorySegment handle() {
        return handle;
    }

    /** Throws if the last call failed, with the engine's text behind {@code what} unless that is empty, for runs. */
    void check(String what) {
        int code = tensorflow_h.TF_GetCode(handle);
        if (code != tensorflow_h.TF_OK()) {
            String text = NativeMemory.string(tensorflow_h.TF_Message(handle));
            throw new GatunException(errorCode(code), what.isEmpty() ? text : what + ": " + text);
        }
    }

    private static ErrorCode errorCode(int code) {
        if (code == tensorflow_h.TF_INVALID_ARGUMENT()
                || code == tensorflow_h.TF_OUT_OF_RANGE()
                || code == tensorflow_h.TF_FAILED_PRECONDITION()) {
            return ErrorCode.INVALID_ARGUMENT;
        }
        if (code == tensorflow_h.TF_NOT_FOUND()) {
            return ErrorCode.NOT_FOUND;
        }
        if (code == tensorflow_h.TF_UNIMPLEMENTED()) {
            return ErrorCode.UNSUPPORTED;
        }
        if (code == tensorflow_h.TF_UNAVAILABLE() || code == tensorflow_h.TF_RESOURCE_EXHAUSTED()) {
            return ErrorCode.UNAVAILABLE;
        }
        boolean ended = code == tensorflow_h.TF_CANCELLED() || code == tensorflow_h.TF_DEADLINE_EXCEEDED();
        return ended ? ErrorCode.CANCELLED : ErrorCode.INTERNAL;
    }

    @Override
    public void close() {
        tensorflow_h.TF_DeleteStatus(handle);
    }
}
