// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;

/** Tells the trace of a request of its responses, and passes them on. */
record TracedReceiver(InferenceRequest request, ResponseReceiver receiver) implements ResponseReceiver {
    @Override
    public void accept(InferenceResponse response, boolean last) {
        request.traceAnswer(response);
        receiver.accept(response, last);
    }

    @Override
    public void acceptFailure(GatunException reason) {
        receiver.acceptFailure(reason);
    }
}
