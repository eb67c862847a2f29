// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

/** Makes one request after another. Used by one thread; {@link #close} by any, at the end. */
public interface Caller extends AutoCloseable {
    /** Gets the next request ready to be sent. Not measured. */
    void prepare();

    /** Makes the measured call: sends the request and waits for the whole response. The text of a failure says why. */
    void call();

    /** Compares the response of a successful {@link #call} and frees it, not measured. Empty if it is as expected. */
    String finish();

    /** Bytes of tensors in the last finished request and its response, wherever they lie. */
    long tensorByteSize();

    @Override
    void close();
}
