// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.DataSet;
import gatun.bench.data.ModelDescription;
import java.util.List;

/** A signature of a model on a server of TensorFlow Serving. Owns the connection. Safe for any thread. */
interface TensorFlowServer extends AutoCloseable {
    /** The signature's tensors. Throws {@link TargetException} when it does not exist, or the server fails. */
    ModelDescription describe();

    /** A request for each step of the data, encoded once. Any number of threads may make them. */
    List<Prediction> predictions(DataSet data);

    @Override
    void close();

    /** A request that can be made any number of times. */
    interface Prediction {
        /** Sends the request, and waits for the response. */
        Response make();
    }

    /** The response to a request. */
    interface Response {
        /** The first difference from the expected outputs, as text; empty when there is none. */
        String differences();

        long tensorByteSize();
    }
}
