// SPDX-License-Identifier: Apache-2.0
package com.example.affine;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Tensor;
import gatun.spi.BackendInstance;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.spi.ParameterValue;
import java.lang.foreign.MemorySegment;

/** Runs for one request or one batch at a time. */
final class AffineInstance implements BackendInstance {
    private final float scale;
    private final float offset;

    AffineInstance(float scale, float offset) {
        this.scale = scale;
        this.offset = offset;
    }

    @Override
    public void execute(Execution execution) {
        Tensor x = execution.input(0);
        execution.inferStarted();
        // The memory belongs to the response, or to the client where it gave a region of its own: nothing is copied
        // afterwards.
        MemorySegment y =
                execution.output(0, Datatype.FP32, x.spec().shape(), x.bytes().byteSize());
        long count = x.spec().shape().elementCount();
        for (long i = 0; i < count; i++) {
            y.setAtIndex(ElementLayouts.FP32, i, scale * x.bytes().getAtIndex(ElementLayouts.FP32, i) + offset);
        }
        execution.inferEnded();
        for (ExecutionRequest request : execution.requests()) {
            request.responseParameter("scale", new ParameterValue.Fp64(scale));
        }
    }

    @Override
    public boolean isBoundToThread() {
        return false; // It holds nothing that only one thread may touch.
    }

    @Override
    public void warmUp() {
        // An engine would run once here, so that the first request does not pay for it.
    }

    @Override
    public void close() {
        // Nothing was opened.
    }
}
