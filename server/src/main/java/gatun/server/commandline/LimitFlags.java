// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.OverlayFlags;
import gatun.protocol.flags.FlagType;
import gatun.runtime.limits.LimitSettings;
import gatun.runtime.limits.LimitSettings.ModelLimits;
import gatun.runtime.limits.RequestLimits;
import java.util.Optional;

/** How much one client, and all of them together, may ask for. Read once. */
final class LimitFlags extends OverlayFlags<LimitSettings> {
    private final Flag<Integer> textByteSize = limit(
            "--limit-text-byte-size",
            "BYTES",
            standard.request().textByteSize(),
            "The most bytes of one text of a request: an id, a name, a version, a key, a parameter's value.");
    private final Flag<Integer> textsByteSize = limit(
            "--limit-texts-byte-size",
            "BYTES",
            standard.request().textsByteSize(),
            "The most bytes of all these texts of a request together.");
    private final Flag<Integer> tensors = limit(
            "--limit-tensors",
            "N",
            standard.request().tensors(),
            "The most inputs of a request, and the most outputs that it may ask for.");
    private final Flag<Integer> parameters = limit(
            "--limit-parameters",
            "N",
            standard.request().parameters(),
            "The most parameters of a request, those of its inputs and outputs included.");
    private final Flag<Integer> controlByteSize = limit(
            "--limit-control-byte-size",
            "BYTES",
            standard.request().controlByteSize(),
            "The most bytes of a request that controls the server, the files of a model not counted.");
    private final Flag<Integer> models = limit(
            "--limit-models",
            "N",
            standard.model().models(),
            "How many models there may be for a load request to bring the files of another.");
    private final Flag<Integer> instances = limit(
            "--limit-instances",
            "N",
            standard.model().instances(),
            "The most instances that a model's configuration may ask for.");
    private final Flag<Long> warmUpByteSize = flag(
            "--limit-warm-up-byte-size",
            FlagType.BYTE_SIZE,
            standard.model().warmUpByteSize(),
            "The most bytes of the inputs of one warm-up sample of a model, those in files included.");
    private final Flag<Optional<Long>> heapByteSize = optional(
            "--limit-heap-byte-size",
            FlagType.BYTE_SIZE,
            "The most bytes of the Java heap that all requests together may take for what is long in them;"
                    + " a quarter of the heap unless this is given.");

    LimitFlags(LimitSettings standard) {
        super(standard);
    }

    private Flag<Integer> limit(String name, String label, int initial, String description) {
        return flag(name, FlagType.LIMIT.labelled(label), initial, description);
    }

    LimitSettings settings() {
        return new LimitSettings(
                new RequestLimits(
                        textByteSize.value(),
                        textsByteSize.value(),
                        tensors.value(),
                        parameters.value(),
                        controlByteSize.value()),
                new ModelLimits(models.value(), instances.value(), warmUpByteSize.value()),
                heapByteSize.value().orElse(standard.heapByteSize()));
    }
}
