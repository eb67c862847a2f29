// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.limits.LimitSettings;
import gatun.runtime.limits.ModelLimits;
import gatun.runtime.limits.RequestLimits;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The limits of requests, of one client and of all together. Filled by picocli, read once. */
final class LimitFlags {
    @Option(
            names = "--limit-text-byte-size",
            paramLabel = "BYTES",
            defaultValue = "65536",
            converter = FlagValues.Limit.class,
            description =
                    "The most bytes of one text of a request: an id, a name, a version, a key, a parameter's value.")
    int textByteSize;

    @Option(
            names = "--limit-texts-byte-size",
            paramLabel = "BYTES",
            defaultValue = "262144",
            converter = FlagValues.Limit.class,
            description = "The most bytes of all these texts of a request together.")
    int textsByteSize;

    @Option(
            names = "--limit-tensors",
            paramLabel = "N",
            defaultValue = "4096",
            converter = FlagValues.Limit.class,
            description = "The most inputs of a request, and the most outputs that it may ask for.")
    int tensors;

    @Option(
            names = "--limit-parameters",
            paramLabel = "N",
            defaultValue = "1024",
            converter = FlagValues.Limit.class,
            description = "The most parameters of a request, those of its inputs and outputs included.")
    int parameters;

    @Option(
            names = "--limit-control-byte-size",
            paramLabel = "BYTES",
            defaultValue = "4194304",
            converter = FlagValues.Limit.class,
            description = "The most bytes of a request that controls the server, the files of a model not counted.")
    int controlByteSize;

    @Option(
            names = "--limit-models",
            paramLabel = "N",
            defaultValue = "16384",
            converter = FlagValues.Limit.class,
            description = "How many models there may be for a load request to bring the files of another.")
    int models;

    @Option(
            names = "--limit-instances",
            paramLabel = "N",
            defaultValue = "1024",
            converter = FlagValues.Limit.class,
            description = "The most instances that a model's configuration may ask for.")
    int instances;

    @Option(
            names = "--limit-warm-up-byte-size",
            paramLabel = "BYTES",
            defaultValue = "268435456",
            converter = FlagValues.ByteSize.class,
            description = "The most bytes of the inputs of one warm-up sample of a model, those in files included.")
    long warmUpByteSize;

    @Option(
            names = "--limit-heap-byte-size",
            paramLabel = "BYTES",
            converter = FlagValues.ByteSize.class,
            description =
                    "The most bytes of the Java heap that all requests together may take for what is long in them;"
                            + " a quarter of the heap unless this is given.")
    Optional<Long> heapByteSize = Optional.empty();

    LimitSettings settings() {
        return new LimitSettings(
                new RequestLimits(textByteSize, textsByteSize, tensors, parameters, controlByteSize),
                new ModelLimits(models, instances, warmUpByteSize),
                heapByteSize.orElseGet(LimitSettings::standardHeapByteSize));
    }
}
