// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.BatchingRule;
import gatun.spi.EntryPoint;
import gatun.wire.tensorflow.SignatureDef;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** The entry points of a model version, and how requests to them are checked. Immutable. */
final class EntryPoints {
    private final ModelSignature signature;
    private final RequestCheck check;
    private final SequencedMap<String, EntryPoint> byName = new LinkedHashMap<>();
    private final Map<String, SignatureDef> described;

    private EntryPoints(ModelSignature signature, List<ModelSignature> others, Map<String, SignatureDef> described) {
        this.described = described;
        this.signature = signature;
        check = new RequestCheck(signature, others);
        byName.put(signature.entryPoint().name(), signature.entryPoint());
        others.forEach(other -> byName.put(other.entryPoint().name(), other.entryPoint()));
    }

    /** Those that the backend of {@code definition} has; sequences and computed inputs have the first only. */
    static EntryPoints of(
            VersionDefinition definition, @Nullable BatchingRule rule, boolean sequences, ClientMemory memory) {
        List<EntryPoint> all = definition.backend().entryPoints();
        ModelSignature first = new ModelSignature(
                definition.config(), definition.labels(), all.isEmpty() ? null : all.getFirst(), rule, memory);
        boolean onlyFirst = sequences || first.batchTensors() != null;
        return new EntryPoints(
                first,
                onlyFirst
                        ? List.of()
                        : all.stream()
                                .skip(first.isAsNamed() ? 1 : 0)
                                .map(first::of)
                                .toList(),
                definition.backend().signatures());
    }

    /** The signature of the entry point that requests without a name get. */
    ModelSignature signature() {
        return signature;
    }

    RequestCheck check() {
        return check;
    }

    Map<String, SignatureDef> described() {
        return described;
    }

    /** By name, the first for requests without a name. */
    SequencedMap<String, EntryPoint> byName() {
        return Collections.unmodifiableSequencedMap(byName);
    }
}
