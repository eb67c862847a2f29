// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.limits;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.spi.Setting;

/**
 * The limits of one request beside the bytes of its tensors, whichever protocol it comes by. Checked before anything is
 * made of it.
 *
 * @param textByteSize the most bytes of one text, in UTF-8: an id, a name, a version, a key of shared memory, a
 *     parameter's value
 * @param textsByteSize the most bytes of all these texts of a request together
 * @param tensors the most inputs, and the most requested outputs
 * @param parameters the most parameters of a request, those of its inputs and outputs included
 * @param controlByteSize the most bytes of a request that controls the server, the files of a model not counted
 */
public record RequestLimits(int textByteSize, int textsByteSize, int tensors, int parameters, int controlByteSize) {
    /** Far beyond what clients send that mean well, and small beside a heap of 512 MiB. */
    public static final RequestLimits STANDARD = new RequestLimits(64 << 10, 256 << 10, 4096, 1024, 4 << 20);

    /** Dimensions of shapes for each tensor that a request may have; more than any model has. */
    private static final int DIMENSIONS_PER_TENSOR = 16;

    /** Checks that each limit lets something through. */
    public RequestLimits {
        requirePositive(textByteSize, "bytes of a text");
        requirePositive(textsByteSize, "bytes of all texts");
        requirePositive(tensors, "tensors");
        requirePositive(parameters, "parameters");
        requirePositive(controlByteSize, "bytes of a control request");
    }

    private static void requirePositive(int limit, String what) {
        if (limit < 1) {
            throw new IllegalArgumentException("the limit of " + what + " is " + limit + ": expected at least 1");
        }
    }

    /**
     * Checks a text before it is made; clients know it as {@code what}, such as {@code the request's id}. This and the
     * other checks throw {@link GatunException} RESOURCE_EXHAUSTED naming the limit.
     */
    public void requireText(long byteSize, String what) {
        if (byteSize > textByteSize) {
            throw exceeded(what + " has " + byteSize + " bytes", textByteSize, Setting.LIMIT_TEXT_BYTE_SIZE);
        }
    }

    /** The failure of a text, {@code what} for the client, of which no more was read than it may have. */
    public GatunException textTooLong(String what) {
        return exceeded(
                what + " has " + (textByteSize + 1L) + " bytes or more", textByteSize, Setting.LIMIT_TEXT_BYTE_SIZE);
    }

    /** Checks all texts of a request together. */
    public void requireTexts(long byteSize) {
        if (byteSize > textsByteSize) {
            throw exceeded(
                    "the texts of the request have " + byteSize + " bytes",
                    textsByteSize,
                    Setting.LIMIT_TEXTS_BYTE_SIZE);
        }
    }

    /** Checks a number of inputs or requested outputs; {@code what} is {@code inputs} or {@code outputs}. */
    public void requireTensors(long count, String what) {
        if (count > tensors) {
            throw exceeded("the request has " + count + " " + what + " or more", tensors, Setting.LIMIT_TENSORS);
        }
    }

    /** Checks the dimensions of all shapes of a request together: sixteen for each tensor that it may have. */
    public void requireDimensions(long count) {
        if (count > (long) DIMENSIONS_PER_TENSOR * tensors) {
            throw exceeded(
                    "the shapes of the request have " + count + " dimensions or more",
                    (long) DIMENSIONS_PER_TENSOR * tensors,
                    Setting.LIMIT_TENSORS);
        }
    }

    /** Checks the number of a request's parameters. */
    public void requireParameters(long count) {
        if (count > parameters) {
            throw exceeded("the request has " + count + " parameters or more", parameters, Setting.LIMIT_PARAMETERS);
        }
    }

    /** Checks the size of a request that controls the server. */
    public void requireControl(long byteSize) {
        if (byteSize > controlByteSize) {
            throw exceeded("the request has " + byteSize + " bytes", controlByteSize, Setting.LIMIT_CONTROL_BYTE_SIZE);
        }
    }

    private static GatunException exceeded(String what, long limit, Setting setting) {
        return new GatunException(
                ErrorCode.RESOURCE_EXHAUSTED,
                what + ", more than the limit of " + limit + "; the server's " + setting + " sets it");
    }

    /**
     * The part of its limits that a request has used, and the heap reserved for it. Its reader counts each thing before
     * it makes it; counting throws {@link GatunException} RESOURCE_EXHAUSTED above a limit, else as {@link
     * HeapBudget#reserve}. Small requests reserve nothing. Not thread-safe; closed by its owner, perhaps by another
     * thread later.
     */
    public static final class RequestUsage implements Hold {
        /** Bytes that a text counts beside its own, so that empty ones are not free. */
        public static final int TEXT_BYTE_SIZE = 16;

        /** The heap that a text takes beside its bytes. */
        private static final int TEXT_HEAP = 64;

        /** A text may take two bytes of heap for each of its own, and is copied once while it is made. */
        private static final int HEAP_PER_TEXT_BYTE = 3;

        /** The heap of an input or a requested output: its objects, and those of its buffers, leases and shapes. */
        private static final int TENSOR_HEAP = 768;

        private static final int PARAMETER_HEAP = 256;

        /** The heap of a dimension of a shape, and of what an error shows of it. */
        private static final int DIMENSION_HEAP = 64;

        private static final Hold NOTHING = () -> {};

        private final RequestLimits limits;
        private final HeapBudget heap;
        private long textBytes;
        private int parameters;
        private int dimensions;
        private long heapBytes;
        private long reservedBytes = HeapBudget.FREE_BYTE_SIZE;
        private Hold reservation = NOTHING;

        /** Nothing used of {@code limits}; what is long is reserved from {@code heap}. */
        public RequestUsage(RequestLimits limits, HeapBudget heap) {
            this.limits = limits;
            this.heap = heap;
        }

        /** The standard limits with a heap budget of its own: for data that no client sent. */
        public static RequestUsage standard() {
            return new RequestUsage(RequestLimits.STANDARD, new HeapBudget(Long.MAX_VALUE));
        }

        /** Counts a text of at most {@link RequestLimits#textByteSize} bytes. */
        public void addText(long byteSize) {
            textBytes += byteSize + TEXT_BYTE_SIZE;
            limits.requireTexts(textBytes);
            take(TEXT_HEAP + HEAP_PER_TEXT_BYTE * byteSize);
        }

        /** Counts an input or requested output, with which there are {@code count} of {@code what}, its kind. */
        public void addTensor(int count, String what) {
            limits.requireTensors(count, what);
            take(TENSOR_HEAP);
        }

        /** Counts one more parameter. */
        public void addParameter() {
            limits.requireParameters(++parameters);
            take(PARAMETER_HEAP);
        }

        /** Counts one more dimension of a shape. */
        public void addDimension() {
            limits.requireDimensions(++dimensions);
            take(DIMENSION_HEAP);
        }

        /** Counts heap of any other kind. */
        public void take(long byteSize) {
            heapBytes += byteSize;
            if (heapBytes > reservedBytes) {
                reserveMore();
            }
        }

        private void reserveMore() {
            long wanted = Math.max(2 * reservedBytes, heapBytes);
            Hold more = heap.reserve(wanted);
            reservation.close();
            reservation = more;
            reservedBytes = wanted;
        }

        /** The limits that are counted against. */
        public RequestLimits limits() {
            return limits;
        }

        /** Makes this the usage of another request. Only for one that {@linkplain #holdsHeap holds no heap}. */
        public void restart() {
            textBytes = 0;
            parameters = 0;
            dimensions = 0;
            heapBytes = 0;
        }

        /** Whether there is anything to give back by {@link #close}. */
        public boolean holdsHeap() {
            return reservedBytes > HeapBudget.FREE_BYTE_SIZE;
        }

        @Override
        public void close() {
            reservation.close();
        }
    }
}
