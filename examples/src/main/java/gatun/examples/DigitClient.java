// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

/**
 * One way to bring a picture to the model {@code digits} and the response back. Opened once, used for many pictures by
 * one thread at a time, closed by its owner.
 */
interface DigitClient extends AutoCloseable {
    /** The model's name on the server. */
    String MODEL = "digits";

    /** The model's input: FP32 [n, 1, 28, 28]. */
    String INPUT = "image";

    /** The model's output: FP32 [n, 10]. */
    String OUTPUT = "probabilities";

    /**
     * The probability of each digit.
     *
     * @throws DigitException if the server cannot be reached or refuses
     */
    float[] probabilities(DigitPicture picture);

    /** Gives back what this client holds; never throws. */
    @Override
    void close();
}
