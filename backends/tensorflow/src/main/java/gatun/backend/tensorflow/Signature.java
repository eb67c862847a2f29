// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.wire.tensorflow.SignatureDef;
import gatun.wire.tensorflow.TensorInfo;
import gatun.wire.tensorflow.TensorShapeProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Makes entry points of a SavedModel's signatures. */
final class Signature {
    /** The signature for clients that name none. */
    static final String DEFAULT = "serving_default";

    private Signature() {}

    /**
     * The signatures that can be served, first the chosen one, or {@link #DEFAULT} if empty: those with dense tensors
     * of datatypes that protocols can carry. Throws INVALID_ARGUMENT when there is none, or not the chosen one.
     */
    static List<EntryPoint> of(SavedModelFile file, String chosen, String model) {
        List<EntryPoint> all = new ArrayList<>();
        List<String> others = new ArrayList<>();
        file.signatures().forEach((name, definition) -> {
            if (!name.equals(SavedModelFile.INITIALISER)) {
                of(name, definition).ifPresentOrElse(all::add, () -> others.add(name));
            }
        });
        String wanted = chosen.isEmpty() ? DEFAULT : chosen;
        Optional<EntryPoint> first =
                all.stream().filter(entry -> entry.name().equals(wanted)).findFirst();
        if (all.isEmpty() || (first.isEmpty() && !chosen.isEmpty())) {
            throw GatunException.invalidArgument("model '" + model + "' has no signature"
                    + (chosen.isEmpty() ? "" : " '" + chosen + "'") + " that can be served; it has "
                    + all.stream().map(EntryPoint::name).toList() + ", and " + others
                    + " with sparse tensors or datatypes that no protocol can carry");
        }
        first.ifPresent(entry -> {
            all.remove(entry);
            all.addFirst(entry);
        });
        return all;
    }

    private static Optional<EntryPoint> of(String name, SignatureDef definition) {
        List<EntryTensor> inputs =
                tensors(definition.getInputsMap(), definition.getDefaultsMap().keySet());
        List<EntryTensor> outputs = tensors(definition.getOutputsMap(), Set.of());
        boolean complete = inputs.size() == definition.getInputsCount()
                && outputs.size() == definition.getOutputsCount()
                && !outputs.isEmpty();
        return complete
                ? Optional.of(new EntryPoint(name, definition.getMethodName(), inputs, outputs))
                : Optional.empty();
    }

    /** The tensors that protocols can carry, by name; requests may leave out the {@code defaulted}. */
    private static List<EntryTensor> tensors(Map<String, TensorInfo> described, Set<String> defaulted) {
        List<EntryTensor> tensors = new ArrayList<>();
        new TreeMap<>(described).forEach((name, info) -> {
            Datatype datatype = ElementTypes.datatype(info.getDtypeValue());
            if (info.hasName() && datatype != Datatype.INVALID) {
                tensors.add(new EntryTensor(
                        new TensorSpec(name, datatype, shape(info.getTensorShape())),
                        info.getTensorShape().getUnknownRank(),
                        info.getName(),
                        defaulted.contains(name)));
            }
        });
        return tensors;
    }

    private static Shape shape(TensorShapeProto shape) {
        return Shape.of(shape.getDimList().stream()
                .mapToLong(dim -> Math.max(dim.getSize(), Shape.VARIABLE))
                .toArray());
    }
}
