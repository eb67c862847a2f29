// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.onnxruntime.OrtApi;
import java.lang.foreign.MemorySegment;

/**
 * Turns each {@code OrtStatus*} into an exception, and frees it. The one class that looks at ONNX Runtime's error
 * codes.
 */
final class OrtStatus {
    private final MemorySegment api;

    OrtStatus(MemorySegment api) {
        this.api = api;
    }

    void check(MemorySegment status) {
        if (status.address() == 0) {
            return;
        }
        try {
            NativeCode code = NativeCode.ofOrt(OrtApi.getErrorCode(api, status));
            throw new NativeException(code, NativeMemory.string(OrtApi.getErrorMessage(api, status)));
        } finally {
            OrtApi.releaseStatus(api, status);
        }
    }
}
