// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.limits;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
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
     * Checks one text before it is made.
     *
     * @param what the text's name for the client, such as {@code the request's id}
     * @throws GatunException RESOURCE_EXHAUSTED naming the limit
     */
    public void requireText(long byteSize, String what) {
        if (byteSize > textByteSize) {
            throw exceeded(what + " has " + byteSize + " bytes", textByteSize, Setting.LIMIT_TEXT_BYTE_SIZE);
        }
    }

    /**
     * The failure of a text of which no more was read than it may have.
     *
     * @param what as for {@link #requireText}
     */
    public GatunException textTooLong(String what) {
        return exceeded(
                what + " has " + (textByteSize + 1L) + " bytes or more", textByteSize, Setting.LIMIT_TEXT_BYTE_SIZE);
    }

    /**
     * Checks all texts of a request together.
     *
     * @throws GatunException RESOURCE_EXHAUSTED naming the limit
     */
    public void requireTexts(long byteSize) {
        if (byteSize > textsByteSize) {
            throw exceeded(
                    "the texts of the request have " + byteSize + " bytes",
                    textsByteSize,
                    Setting.LIMIT_TEXTS_BYTE_SIZE);
        }
    }

    /**
     * Checks a number of inputs, or of requested outputs.
     *
     * @param what {@code inputs} or {@code outputs}
     * @throws GatunException RESOURCE_EXHAUSTED naming the limit
     */
    public void requireTensors(long count, String what) {
        if (count > tensors) {
            throw exceeded("the request has " + count + " " + what + " or more", tensors, Setting.LIMIT_TENSORS);
        }
    }

    /**
     * Checks the number of dimensions that all shapes of a request have together: sixteen for each tensor that it may
     * have.
     *
     * @throws GatunException RESOURCE_EXHAUSTED naming the limit
     */
    public void requireDimensions(long count) {
        if (count > (long) DIMENSIONS_PER_TENSOR * tensors) {
            throw exceeded(
                    "the shapes of the request have " + count + " dimensions or more",
                    (long) DIMENSIONS_PER_TENSOR * tensors,
                    Setting.LIMIT_TENSORS);
        }
    }

    /**
     * Checks the number of a request's parameters.
     *
     * @throws GatunException RESOURCE_EXHAUSTED naming the limit
     */
    public void requireParameters(long count) {
        if (count > parameters) {
            throw exceeded("the request has " + count + " parameters or more", parameters, Setting.LIMIT_PARAMETERS);
        }
    }

    /**
     * Checks the size of a request that controls the server.
     *
     * @throws GatunException RESOURCE_EXHAUSTED naming the limit
     */
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
}
