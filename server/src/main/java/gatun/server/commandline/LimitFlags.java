// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.limits.LimitSettings;
import gatun.runtime.limits.ModelLimits;
import gatun.runtime.limits.RequestLimits;
import java.util.Optional;

/** How much one client, and all of them together, may ask for. Read once. */
final class LimitFlags extends FlagGroup {
    private final LimitSettings standard;
    private final Flag<Integer> textByteSize;
    private final Flag<Integer> textsByteSize;
    private final Flag<Integer> tensors;
    private final Flag<Integer> parameters;
    private final Flag<Integer> controlByteSize;
    private final Flag<Integer> models;
    private final Flag<Integer> instances;
    private final Flag<Long> warmUpByteSize;
    private final Flag<Optional<Long>> heapByteSize;

    LimitFlags(LimitSettings standard) {
        this.standard = standard;
        RequestLimits request = standard.request();
        ModelLimits model = standard.model();
        textByteSize = limit(
                "--limit-text-byte-size",
                "BYTES",
                request.textByteSize(),
                "The most bytes of one text of a request: an id, a name, a version, a key, a parameter's value.");
        textsByteSize = limit(
                "--limit-texts-byte-size",
                "BYTES",
                request.textsByteSize(),
                "The most bytes of all these texts of a request together.");
        tensors = limit(
                "--limit-tensors",
                "N",
                request.tensors(),
                "The most inputs of a request, and the most outputs that it may ask for.");
        parameters = limit(
                "--limit-parameters",
                "N",
                request.parameters(),
                "The most parameters of a request, those of its inputs and outputs included.");
        controlByteSize = limit(
                "--limit-control-byte-size",
                "BYTES",
                request.controlByteSize(),
                "The most bytes of a request that controls the server, the files of a model not counted.");
        models = limit(
                "--limit-models",
                "N",
                model.models(),
                "How many models there may be for a load request to bring the files of another.");
        instances = limit(
                "--limit-instances",
                "N",
                model.instances(),
                "The most instances that a model's configuration may ask for.");
        warmUpByteSize = flag(
                "--limit-warm-up-byte-size",
                "BYTES",
                FlagType.BYTE_SIZE,
                model.warmUpByteSize(),
                "The most bytes of the inputs of one warm-up sample of a model, those in files included.");
        heapByteSize = optional(
                "--limit-heap-byte-size",
                "BYTES",
                FlagType.BYTE_SIZE,
                "The most bytes of the Java heap that all requests together may take for what is long in them;"
                        + " a quarter of the heap unless this is given.");
    }

    private Flag<Integer> limit(String name, String label, int standard, String description) {
        return flag(name, label, FlagType.LIMIT, standard, description);
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
