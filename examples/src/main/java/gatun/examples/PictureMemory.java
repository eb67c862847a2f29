// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

/**
 * Memory that client and server share, with a picture and room for the response. Owned by the client and used by one
 * thread; the server keeps a mapping of its own until the region is unregistered.
 *
 * <pre> 0                      3136                        3176
 *       | FP32 [1, 1, 28, 28] | FP32 [1, 10]             |
 *       | we write            | the model's engine writes |</pre>
 */
sealed interface PictureMemory extends AutoCloseable permits SharedPicture, CudaPicture {
    /** Where the picture begins, in bytes. */
    long INPUT_OFFSET = 0;

    /** How long the picture is, in bytes. */
    long INPUT_SIZE = (long) DigitPicture.SIDE * DigitPicture.SIDE * Float.BYTES;

    /** Where the response begins, in bytes. */
    long OUTPUT_OFFSET = INPUT_OFFSET + INPUT_SIZE;

    /** How long the response is, in bytes. */
    long OUTPUT_SIZE = 10L * Float.BYTES;

    /** All of it, in bytes. */
    long SIZE = OUTPUT_OFFSET + OUTPUT_SIZE;

    /** The name under which the region is registered. */
    String name();

    /** Writes a picture. */
    void put(DigitPicture picture);

    /** Reads the response. */
    float[] probabilities();

    /** Removes what would outlive this process, if anything does. Any thread, any number of times. */
    void unlink();

    @Override
    void close();
}
