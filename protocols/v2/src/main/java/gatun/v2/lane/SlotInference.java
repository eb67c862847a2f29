// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.buffers.Sender;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import org.jspecify.annotations.Nullable;

/**
 * Makes the inference requests of one slot. Clients mostly fill a slot as they did before, with other elements in the
 * same tensors; then the last request is asked again, which makes no object. Used for one request after another, by one
 * thread at a time.
 */
final class SlotInference {
    private static final Origin ORIGIN = new Origin(3, "v2", "lane");

    private final Sender client;
    private final SlotRequest slotRequest;
    private final SlotTensors tensors;

    private @Nullable PreparedRequest lastAsked;
    /** Made for {@link #lastAsked} and the present tensors of the slot; null for none that may be asked again. */
    private @Nullable InferenceRequest last;

    /** @param client whose lane it is */
    SlotInference(Sender client, SlotRequest slotRequest, SlotTensors tensors) {
        this.client = client;
        this.slotRequest = slotRequest;
        this.tensors = tensors;
    }

    /** Notes that the slot says other tensors than before. */
    void forget() {
        last = null;
        lastAsked = null;
    }

    /**
     * The request that the slot holds, to a version of its model.
     *
     * @param traced whether somebody keeps what it is asked and answered
     */
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
