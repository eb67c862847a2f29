// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.backend.python.Codec.WorkerTensor;
import gatun.memory.tensor.GatunException;
import gatun.spi.ParameterValue;
import gatun.workers.FrameReader;
import gatun.workers.FrameValues;
import gatun.workers.WorkerMemory;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A response of a model, or why there is none. Its tensors' blocks are the server's until they are given back. */
record WorkerResponse(
        Optional<GatunException> error, Map<String, ParameterValue> parameters, List<WorkerTensor> tensors) {
    /** Name, datatype, rank, offset and size. */
    private static final int LEAST_TENSOR_BYTES = 25;

    static WorkerResponse read(FrameReader frame) {
        Optional<GatunException> error =
                frame.u8() == 0 ? Optional.empty() : Optional.of(Codec.error(frame.u8(), frame.text()));
        return new WorkerResponse(error, FrameValues.readParameters(frame), readTensors(frame));
    }

    static List<WorkerTensor> readTensors(FrameReader frame) {
        return frame.list(LEAST_TENSOR_BYTES, () -> Codec.readTensor(frame));
    }

    /** Gives all blocks back: nobody reads the response. */
    void drop(WorkerMemory memory) {
        tensors.forEach(tensor -> memory.giveBack(tensor.offset(), tensor.byteSize()));
    }
}
