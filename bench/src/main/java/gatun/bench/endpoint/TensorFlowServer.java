// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.DataSet;
import gatun.bench.data.ModelDescription;
import java.util.List;

/** A signature of a model on a server of TensorFlow Serving. Owns the connection. Safe for any thread. */
interface TensorFlowServer extends AutoCloseable {
    /**
     * What the signature takes and gives.
     *
     * @throws TargetException when there is no such model or signature, or the server cannot be asked
     */
    ModelDescription describe();

    /** A request for each step of the data, encoded once. Any number of threads may make them. */
    List<Prediction> predictions(DataSet data);

    @Override
    void close();

    /** A request that can be made any number of times. */
    interface Prediction {
        /** Makes it, and waits for the answer. */
        Answer make();
    }

    /** What came back. */
    interface Answer {
        /** What is not as expected; empty when nothing is. */
        String differences();

        /** Bytes of the outputs. */
        long tensorByteSize();
    }
}
