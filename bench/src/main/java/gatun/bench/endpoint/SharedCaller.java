// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.load.Caller;

/** Requests that are each a call of the client, their tensors in shared memory. */
final class SharedCaller implements Caller {
    private final SharedRequests requests;
    private final StepCursor cursor;

    SharedCaller(SharedRequests requests, StepCursor cursor) {
        this.requests = requests;
        this.cursor = cursor;
    }

    @Override
    public void prepare() {
        requests.write(cursor.next(), cursor);
    }

    @Override
    public void call() {
        requests.infer(cursor.step());
    }

    @Override
    public String finish() {
        cursor.answered();
        return requests.differences(cursor.step().expected());
    }

    @Override
    public long tensorByteSize() {
        return cursor.step().byteSize() + requests.sharedOutputByteSize();
    }

    @Override
    public void close() {
        requests.close();
    }
}
