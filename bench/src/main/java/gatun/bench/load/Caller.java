// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

/**
 * Makes one request after another, for one worker. Used by one thread; {@link #close} by any, when the worker has
 * ended.
 */
public interface Caller extends AutoCloseable {
    /** Gets the next request ready to be sent. Not measured. */
    void prepare();

    /**
     * Sends the request and waits until all of the answer has come. This is what is measured.
     *
     * @throws RuntimeException when it fails; the text says why
     */
    void call();

    /**
     * Looks at the answer, where something is expected of it, and gives its memory back. Called after each
     * {@link #call} that did not fail; not measured.
     *
     * @return what is wrong with the answer; empty when nothing is
     */
    String finish();

    /** How many bytes of tensors the last request that was finished and its answer had, wherever they lie. */
    long tensorByteSize();

    @Override
    void close();
}
