// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.lane.LaneMemory;
import gatun.memory.lane.SlotLayout;
import gatun.memory.regions.RegionRegistry.Access;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelVersion;
import gatun.runtime.RequestedOutput;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A slot's tensors: input and output places, from the server's copy. Not thread-safe. */
final class SlotTensors {
    private final Lane lane;
    private final SlotRequest slotRequest;
    private final long slotOffset;

    SlotTensors(Lane lane, SlotRequest slotRequest, long slotOffset) {
        this.lane = lane;
        this.slotRequest = slotRequest;
        this.slotOffset = slotOffset;
    }

    /**
     * Adds all tensors to a request, which holds their windows from then on.
     *
     * @throws GatunException when one of them lies where it must not
     */
    void addTo(InferenceRequest request, PreparedRequest asked) {
        int inputs = asked.inputCount();
        for (int i = 0; i < inputs; i++) {
            PreparedRequest.Input input = asked.input(i);
            TensorSpec spec = slotRequest.spec(i, input.name(), input.datatype());
            RegionLease window = borrow(asked, i, Access.forInput(input.datatype()));
            request.hold(window);
            request.addInput(Tensor.inRegion(spec, window));
        }
        for (int i = 0; i < asked.outputCount(); i++) {
            RequestedOutput output = asked.output(i);
            if (isWrittenInPlace(request.model(), output)) {
                RegionLease window = borrow(asked, inputs + i, Access.WRITE);
                request.hold(window);
                output = new RequestedOutput(output.name(), Optional.of(window), 0);
            }
            request.addOutput(output);
        }
    }

    /** Whether the engine writes an output in place: not ahead of a reading client, and no classes. */
    private static boolean isWrittenInPlace(ModelVersion model, RequestedOutput output) {
        return output.classification() == 0 && !model.decoupled();
    }

    /**
     * Writes a response into the slot, and the outputs that lie elsewhere to their rooms.
     *
     * @throws GatunException when there is too little room for one
     */
    void write(InferenceResponse response, PreparedRequest asked) {
        LaneMemory memory = lane.memory();
        SlotAnswer.writeHead(memory, slotOffset, response);
        for (int i = 0; i < asked.outputCount(); i++) {
            int tensor = asked.inputCount() + i;
            long tensorOffset = slotOffset + SlotLayout.TENSORS + tensor * SlotLayout.TENSOR_BYTES;
            OutputTensor output = find(response.outputs(), asked.output(i).name(), i);
            if (output == null) {
                SlotAnswer.writeAbsent(memory, tensorOffset);
            } else {
                if (!output.inSharedMemory()) {
                    copy(output.tensor(), asked, tensor);
                }
                SlotAnswer.writeOutput(memory, tensorOffset, output.tensor());
            }
        }
    }

    private static @Nullable OutputTensor find(List<OutputTensor> outputs, String name, int likely) {
        if (likely < outputs.size()
                && outputs.get(likely).tensor().spec().name().equals(name)) {
            return outputs.get(likely);
        }
        for (int i = 0; i < outputs.size(); i++) {
            if (outputs.get(i).tensor().spec().name().equals(name)) {
                return outputs.get(i);
            }
        }
        return null;
    }

    /** Copies an output that lies elsewhere to its room. */
    private void copy(Tensor output, PreparedRequest asked, int tensor) {
        long room = slotRequest.byteSize(tensor);
        if (Long.compareUnsigned(output.byteSize(), room) > 0) {
            throw GatunException.invalidArgument("output '" + output.spec().name() + "' has " + output.byteSize()
                    + " bytes, and its room in shared memory is " + Long.toUnsignedString(room)
                    + ": give it as much");
        }
        if (output.byteSize() == 0) {
            return;
        }
        try (RegionLease window = borrow(asked, tensor, Access.WRITE)) {
            window.target(output.byteSize()).copyFrom(output.bytes());
            window.settle();
        }
    }

    private RegionLease borrow(PreparedRequest asked, int tensor, Access access) {
        return lane.borrow(
                asked, slotRequest.region(tensor), slotRequest.offset(tensor), slotRequest.byteSize(tensor), access);
    }
}
