// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.buffers.ClientQuotaKey;
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
import gatun.runtime.Origin;
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

    /** Adds all tensors to a request, which holds their windows. Throws {@link GatunException} for a misplaced one. */
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

    /** Writes a response into the slot, outputs elsewhere to their rooms. Throws GatunException for too little room. */
    void write(InferenceResponse response, PreparedRequest asked) {
        LaneMemory memory = lane.memory();
        SlotResponse.writeHead(memory, slotOffset, response);
        for (int i = 0; i < asked.outputCount(); i++) {
            int tensor = asked.inputCount() + i;
            long tensorOffset = slotOffset + SlotLayout.TENSORS + tensor * SlotLayout.TENSOR_BYTES;
            OutputTensor output = find(response.outputs(), asked.output(i).name(), i);
            if (output == null) {
                SlotResponse.writeAbsent(memory, tensorOffset);
            } else {
                if (!output.inSharedMemory()) {
                    copy(output.tensor(), asked, tensor);
                }
                SlotResponse.writeOutput(memory, tensorOffset, output.tensor());
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

    /** Makes a slot's inference requests; asks the last again, without a new object, for the same tensors. */
    static final class SlotInference {
        private static final Origin ORIGIN = new Origin(3, "v2", "lane");

        private final ClientQuotaKey client;
        private final SlotRequest slotRequest;
        private final SlotTensors tensors;

        private @Nullable PreparedRequest lastAsked;
        /** Made for {@link #lastAsked} and the present tensors of the slot; null for none that may be asked again. */
        private @Nullable InferenceRequest last;

        SlotInference(ClientQuotaKey client, SlotRequest slotRequest, SlotTensors tensors) {
            this.client = client;
            this.slotRequest = slotRequest;
            this.tensors = tensors;
        }

        /** Notes that the slot says other tensors than before. */
        void forget() {
            last = null;
            lastAsked = null;
        }

        /** The slot's request, to a version of its model; {@code traced} if somebody keeps what it says. */
        @SuppressWarnings("ReferenceEquality") // a request is prepared once, and loaded versions are themselves only
        InferenceRequest begin(PreparedRequest asked, ModelVersion model, boolean traced) {
            boolean plain = !traced && slotRequest.isPlain();
            InferenceRequest before = last;
            if (plain && before != null && lastAsked == asked && before.model() == model && before.repeat()) {
                return before;
            }
            forget();
            InferenceRequest made = build(asked, model, plain);
            if (made.mayRepeat()) {
                last = made;
                lastAsked = asked;
            }
            return made;
        }

        private InferenceRequest build(PreparedRequest asked, ModelVersion model, boolean plain) {
            InferenceRequest made = asked.begin(model);
            try {
                made.origin(ORIGIN);
                made.sender(client);
                String id = slotRequest.id();
                if (!id.isEmpty()) {
                    made.id(id);
                }
                placeInSequence(made);
                tensors.addTo(made, asked);
                if (plain) {
                    made.allowRepeat();
                }
                return made;
            } catch (Throwable t) {
                made.close();
                throw t;
            }
        }

        private void placeInSequence(InferenceRequest made) {
            if (slotRequest.namesSequence()) {
                made.correlationId(slotRequest.sequenceName());
            } else if (slotRequest.sequence() != 0) {
                made.correlationId(slotRequest.sequence());
            }
            if (slotRequest.startsSequence()) {
                made.sequenceStart(true);
            }
            if (slotRequest.endsSequence()) {
                made.sequenceEnd(true);
            }
        }
    }
}
