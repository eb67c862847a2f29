// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.onnxruntime.OrtApi;
import java.lang.foreign.MemorySegment;

/** Turns each {@code OrtStatus*} into an exception, and frees it. The one class that looks at ONNX Runtime's error codes. */
final class OrtStatus {
    private final MemorySegment errorCode;
    private final MemorySegment errorMessage;
    private final MemorySegment release;

    OrtStatus(MemorySegment api) {
        this.errorCode = OrtApi.GetErrorCode(api);
        this.errorMessage = OrtApi.GetErrorMessage(api);
        this.release = OrtApi.ReleaseStatus(api);
    }

    void check(MemorySegment status) {
        if (status.address() == 0) {
            return;
        }
        try {
            NativeCode code = NativeCode.ofOrt(OrtApi.GetErrorCode.invoke(errorCode, status));
            throw new NativeException(code, NativeMemory.string(OrtApi.GetErrorMessage.invoke(errorMessage, status)));
        } finally {
            OrtApi.ReleaseStatus.invoke(release, status);
        }
    }
}
