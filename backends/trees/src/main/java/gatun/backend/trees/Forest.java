// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

/** A forest that a library has loaded. Safe for any thread; closed once, after its last predictor. */
interface Forest extends AutoCloseable {
    /** How many features a row has. */
    int features();

    /**
     * How many numbers {@code quantity} has for each row.
     *
     * @throws gatun.memory.tensor.GatunException INVALID_ARGUMENT when this forest cannot tell it
     */
    int columns(Quantity quantity);

    /**
     * Makes what asks the forest, for one thread at a time.
     *
     * @param isOnly whether no other will ask beside it
     */
    Predictor newPredictor(boolean isOnly);

    @Override
    void close();
}
