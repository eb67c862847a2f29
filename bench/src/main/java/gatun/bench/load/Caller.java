// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

/** Makes one request after another. Used by one thread; {@link #close} by any, at the end. */
public interface Caller extends AutoCloseable {
    /** Gets the next request ready to be sent. Not measured. */
    void prepare();

    /**
     * Sends the request and waits until the whole response has come. This is what is measured.
     *
     * @throws RuntimeException when it fails; the text says why
     */
    void call();

    /**
     * Checks the response, where something is expected of it, and gives its memory back. Called after each
     * {@link #call} that did not fail; not measured.
     *
     * @return how the response differs from what is expected; empty when it does not
     */
    String finish();

    /** Bytes of tensors in the last finished request and its response, wherever they lie. */
    long tensorByteSize();

    @Override
    void close();
}
