// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.client.InferRequest;

/** Gives one worker its requests. For one thread. */
interface RequestSource extends AutoCloseable {
    InferRequest prepare(int index, StepCursor cursor);

    /** Bytes of outputs that are not sent in a response but lie in shared memory. */
    long sharedOutputByteSize();

    @Override
    void close();
}
