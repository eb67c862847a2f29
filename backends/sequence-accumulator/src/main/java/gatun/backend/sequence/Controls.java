// SPDX-License-Identifier: Apache-2.0
package gatun.backend.sequence;

import gatun.wire.inference.ModelSequenceBatching;
import gatun.wire.inference.ModelSequenceBatching.Control.Kind;
import gatun.wire.inference.ModelSequenceBatching.ControlInput;
import java.util.List;
import java.util.Optional;

/**
 * The control inputs of a model, by their kinds.
 *
 * @param start that a sequence begins
 * @param end that it ends
 * @param ready that a row of the batch is a request at all
 * @param correlationId whose row it is
 */
record Controls(
        Optional<Control> start, Optional<Control> end, Optional<Control> ready, Optional<Control> correlationId) {
    static Controls of(List<ControlInput> inputs) {
        return new Controls(
                find(inputs, Kind.CONTROL_SEQUENCE_START),
                find(inputs, Kind.CONTROL_SEQUENCE_END),
                find(inputs, Kind.CONTROL_SEQUENCE_READY),
                find(inputs, Kind.CONTROL_SEQUENCE_CORRID));
    }

    private static Optional<Control> find(List<ControlInput> inputs, Kind kind) {
        for (ControlInput input : inputs) {
            for (ModelSequenceBatching.Control control : input.getControlList()) {
                if (control.getKind() == kind) {
                    return Optional.of(new Control(input.getName(), control));
                }
            }
        }
        return Optional.empty();
    }
}
