// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.load.Caller;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.memory.tensor.Tensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Requests that are each a call of the client, their tensors with them. */
final class UnaryCaller implements Caller {
    private final GatunClient client;
    private final RequestSource requests;
    private final StepCursor cursor;
    private @Nullable InferRequest request;
    private @Nullable InferResponse response;
    private long tensorByteSize;

    UnaryCaller(GatunClient client, RequestSource requests, StepCursor cursor) {
        this.client = client;
        this.requests = requests;
        this.cursor = cursor;
    }

    @Override
    public void prepare() {
        request = requests.prepare(cursor.next(), cursor);
    }

    @Override
    public void call() {
        InferRequest prepared = request;
        if (prepared == null) {
            throw new IllegalStateException("prepare() comes before call()");
        }
        response = client.infer(prepared);
    }

    @Override
    public String finish() {
        InferResponse answer = response;
        if (answer == null) {
            throw new IllegalStateException("call() comes before finish()");
        }
        response = null;
        try (answer) {
            cursor.answered();
            List<Tensor> outputs = answer.outputs();
            tensorByteSize = cursor.step().byteSize() + byteSize(outputs);
            return cursor.step().expected().differences(outputs);
        }
    }

    @Override
    public long tensorByteSize() {
        return tensorByteSize;
    }

    @Override
    public void close() {
        requests.close();
    }

    static long byteSize(List<Tensor> tensors) {
        long byteSize = 0;
        for (int i = 0; i < tensors.size(); i++) {
            byteSize += tensors.get(i).byteSize();
        }
        return byteSize;
    }
}
