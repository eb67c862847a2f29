// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.MemoryUse;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rule for a model's output. {@code backendDims}, without the batch dimension, hold unless {@code anyShape};
 * {@code described} is the whole shape that the backend says it gives, null where that is the same; {@code reshape} is
 * the client's form, null for the backend's; {@code memory} is where the backend writes outputs for clients' memory.
 */
record OutputRule(
        String name,
        Datatype datatype,
        Shape backendDims,
        boolean anyShape,
        @Nullable Shape described,
        @Nullable Reshape reshape,
        List<String> labels,
        MemoryUse memory) {
    /** Whether the backend writes it to memory of the server's own, from where it is copied to a client's. */
    boolean isCopied() {
        return memory.place() == MemoryUse.Place.SERVER;
    }

    /** The client's spec for what the backend gives. Throws INTERNAL when that contradicts the configuration. */
    TensorSpec answered(Datatype given, Shape shape, ModelSignature signature) {
        requireDatatype(given, signature);
        return shaped(given, shape, signature);
    }

    void requireDatatype(Datatype given, ModelSignature signature) {
        if (given != datatype) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "unexpected datatype " + given.wireName() + " for inference output '" + name + "', expecting "
                            + datatype.wireName() + " for " + signature.modelName());
        }
    }

    /** The spec that the client gets, whatever datatype and shape the configuration says. */
    TensorSpec shaped(Datatype given, Shape shape, ModelSignature signature) {
        int leading = signature.leadingDims();
        if (reshape == null) {
            return new TensorSpec(name, given, shape);
        }
        if (shape.rank() != backendDims.rank() + leading) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "unexpected shape " + shape + " for inference output '" + name + "' of model '"
                            + signature.modelName() + "': expected the reshape " + backendDims
                            + (leading == 0 ? "" : " after the batch dimension"));
        }
        return new TensorSpec(name, given, reshape.apply(shape, leading));
    }

    /** Throws INTERNAL for a shape that contradicts the configuration, or the batch dimension {@code rows}. */
    void requireShape(Shape shape, int rows, ModelSignature signature) {
        if (!anyShape && !fits(shape, rows, signature.leadingDims())) {
            Shape expected = signature.leadingDims() == 0 ? backendDims : backendDims.prepend(rows);
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "unexpected shape " + shape + " for inference output '" + name + "' of model '"
                            + signature.modelName() + "': expected " + expected);
        }
    }

    /** Throws INTERNAL when {@code byteSize} is not the size of such an output. */
    void requireSize(Datatype given, Shape shape, long byteSize, ModelSignature signature) {
        long elements = shape.elementCount();
        boolean right = given == Datatype.BYTES
                ? elements >= 0 && byteSize / BytesCodec.LENGTH_BYTES >= elements
                : byteSize == shape.byteSize(given);
        if (!right) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "the backend gives " + byteSize + " bytes for output '" + name + "' of model '"
                            + signature.modelName() + "', which are not those of " + given.wireName() + " " + shape);
        }
    }

    private boolean fits(Shape shape, int rows, int leading) {
        if (shape.elementCount() < 0 || (leading > 0 && (shape.rank() == 0 || shape.dim(0) != rows))) {
            return false;
        }
        if (described != null && described.accepts(shape)) {
            return true;
        }
        if (shape.rank() != backendDims.rank() + leading) {
            return false;
        }
        for (int i = 0; i < backendDims.rank(); i++) {
            long expected = backendDims.dim(i);
            if (expected != Shape.VARIABLE && shape.dim(leading + i) != expected) {
                return false;
            }
        }
        return true;
    }

    /**
     * The rule for a request's input. {@code dims}, without the batch dimension, hold unless {@code anyShape};
     * {@code reshape} is the backend's form, null for the client's; {@code memory} is where the backend reads inputs in
     * clients' memory.
     */
    record InputRule(
            String name,
            Datatype datatype,
            Shape dims,
            boolean anyShape,
            boolean optional,
            @Nullable Reshape reshape,
            MemoryUse memory) {
        /** The shape in the model's form: one element may come as {@code []} or {@code [1]}, after the leading dims. */
        Shape ownForm(Shape shape, int leadingDims) {
            int rank = shape.rank() - leadingDims;
            if (rank == dims.rank()) {
                return shape;
            }
            if (dims.rank() == 0 && rank == 1 && shape.dim(leadingDims) == 1) {
                return leadingDims == 0 ? dims : Shape.of(shape.dim(0));
            }
            // With a batch dimension in front, [8] for [8,1] is more likely a mistake unless the model has scalars.
            boolean scalar = leadingDims == 0 || (reshape != null && reshape.isToScalar());
            if (scalar && rank == 0 && dims.rank() == 1 && dims.dim(0) == 1) {
                return leadingDims == 0 ? dims : Shape.of(shape.dim(0), 1);
            }
            return shape;
        }

        /** Whether it is copied out of a client's memory before the backend sees it. */
        boolean isCopied() {
            return memory.place() == MemoryUse.Place.SERVER;
        }
    }
}
