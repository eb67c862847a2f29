// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.inference.BatchInput.Kind;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** An input made, as INT32 or FP32, of the shapes that input {@code sourceInput} has in a batch. */
record BatchInputRule(String name, Kind kind, Datatype datatype, String sourceInput) {
    /** Its spec for the shape of the source input in each request, the batch dimension in front. */
    TensorSpec spec(List<Shape> sources) {
        Shape shape =
                switch (kind) {
                    case BATCH_ELEMENT_COUNT, BATCH_ACCUMULATED_ELEMENT_COUNT -> Shape.of(sources.size());
                    case BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO -> Shape.of(sources.size() + 1L);
                    case BATCH_MAX_ELEMENT_COUNT_AS_SHAPE -> Shape.of(largest(sources));
                    case BATCH_ITEM_SHAPE -> Shape.of(rows(sources), itemRank(sources));
                    case BATCH_ITEM_SHAPE_FLATTEN -> Shape.of(rows(sources) * itemRank(sources));
                    case UNRECOGNIZED -> throw new AssertionError("an unchecked kind of batch input '" + name + "'");
                };
        return new TensorSpec(name, datatype, shape);
    }

    private static long largest(List<Shape> sources) {
        long largest = 0;
        for (Shape source : sources) {
            largest = Math.max(largest, source.elementCount());
        }
        return largest;
    }

    private static long rows(List<Shape> sources) {
        long rows = 0;
        for (Shape source : sources) {
            rows += source.dim(0);
        }
        return rows;
    }

    private static long itemRank(List<Shape> sources) {
        return sources.getFirst().rank() - 1L;
    }

    /** Writes all of {@code target}. Throws INVALID_ARGUMENT when a number is too large for the datatype. */
    void write(List<Shape> sources, MemorySegment target) {
        switch (kind) {
            case BATCH_ELEMENT_COUNT -> {
                for (int i = 0; i < sources.size(); i++) {
                    set(target, i, sources.get(i).elementCount());
                }
            }
            case BATCH_ACCUMULATED_ELEMENT_COUNT -> accumulate(sources, target, 0);
            case BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO -> {
                set(target, 0, 0);
                accumulate(sources, target, 1);
            }
            // Only its size means something; zeros, since what another request left behind is nobody's business.
            case BATCH_MAX_ELEMENT_COUNT_AS_SHAPE -> target.fill((byte) 0);
            case BATCH_ITEM_SHAPE, BATCH_ITEM_SHAPE_FLATTEN -> writeShapes(sources, target);
            case UNRECOGNIZED -> throw new AssertionError("an unchecked kind of batch input '" + name + "'");
        }
    }

    private void accumulate(List<Shape> sources, MemorySegment target, int first) {
        long sum = 0;
        for (int i = 0; i < sources.size(); i++) {
            sum += sources.get(i).elementCount();
            set(target, first + i, sum);
        }
    }

    private void writeShapes(List<Shape> sources, MemorySegment target) {
        long at = 0;
        for (Shape source : sources) {
            for (long row = source.dim(0); row > 0; row--) {
                for (int dim = 1; dim < source.rank(); dim++) {
                    set(target, at++, source.dim(dim));
                }
            }
        }
    }

    private void set(MemorySegment target, long index, long value) {
        if (datatype == Datatype.FP32) {
            target.setAtIndex(ElementLayouts.FP32, index, (float) value);
            return;
        }
        if (value > Integer.MAX_VALUE) {
            throw GatunException.invalidArgument("batch input '" + name + "' of datatype INT32 would be " + value
                    + ", more than it can hold; send fewer elements in input '" + sourceInput + "'");
        }
        target.setAtIndex(ElementLayouts.INT32, index, (int) value);
    }
}
