// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.bindings.torch.AOTInductorConstantMapEntry;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Owns the weights of a model that are not in its library: in one piece beside it in the package, or in a file beside the
 * package, in the format of safetensors and under the names that the module gives them. Closed after the model.
 */
final class Weights implements AutoCloseable {
    private static final String FILE_END = ".safetensors";

    /** The library counts the bytes of a constant with what is between it and the next. */
    private static final long ALIGNMENT = 64;

    private final Arena arena = Arena.ofShared();
    private final AtenTensors aten = new AtenTensors(arena);
    private final List<MemorySegment> tensors = new ArrayList<>();
    private final Container container;
    private final String what;

    private Weights(Container container, String what) {
        this.container = container;
        this.what = what;
    }

    /**
     * Gives {@code container} its weights, unless they are in its library.
     *
     * @param source the C++ that the library was compiled of
     * @param file the package, beside which a file may be
     * @throws GatunException INVALID_ARGUMENT when there are none, or they do not fit the model
     */
    static Weights give(Container container, ModelPackage model, Optional<String> source, Path file, String what) {
        Weights weights = new Weights(container, what);
        try {
            Optional<MemorySegment> apart = model.weights(weights.arena);
            Path beside = beside(file);
            if (apart.isPresent()) {
                weights.give(apart.get());
            } else if (Files.isRegularFile(beside)) {
                weights.give(SafeTensors.map(beside, weights.arena), source.map(ConstantForm::read));
            } else if (source.filter(ConstantForm::areMissing).isPresent()) {
                throw GatunException.invalidArgument(what + " was made without its weights"
                        + " (aot_inductor.package_constants_in_so=False); put them beside it as " + beside.getFileName()
                        + ", by safetensors.torch.save_file(module.state_dict(), ...)");
            }
            return weights;
        } catch (RuntimeException | Error e) {
            weights.close();
            throw e;
        }
    }

    private static Path beside(Path file) {
        String name = file.getFileName().toString();
        int dot = name.lastIndexOf('.');
        return file.resolveSibling((dot < 0 ? name : name.substring(0, dot)) + FILE_END);
    }

    private void give(MemorySegment bytes) {
        long expected = container.constantsByteSize();
        if (bytes.byteSize() < expected) {
            throw GatunException.invalidArgument(what + " has " + bytes.byteSize()
                    + " bytes of weights, its library expects " + expected + "; it may be damaged");
        }
        container.useConstants(bytes);
    }

    private void give(SafeTensors file, Optional<List<ConstantForm>> forms) {
        List<Container.Constant> constants = container.constants();
        MemorySegment pairs = AOTInductorConstantMapEntry.allocateArray(Math.max(1, constants.size()), arena);
        for (int i = 0; i < constants.size(); i++) {
            Container.Constant constant = constants.get(i);
            SafeTensors.Entry entry = file.find(constant.originalName());
            check(constant, entry);
            if (forms.isPresent() && i < forms.get().size()) {
                forms.get().get(i).check(entry, what);
            }
            MemorySegment tensor = aten.around(entry.bytes(), entry.datatype(), entry.shape());
            tensors.add(tensor);
            MemorySegment pair = AOTInductorConstantMapEntry.asSlice(pairs, i);
            AOTInductorConstantMapEntry.name(pair, arena.allocateFrom(constant.name()));
            AOTInductorConstantMapEntry.handle(pair, tensor);
        }
        aten.live().tell();
        container.useConstants(pairs, constants.size());
    }

    private void check(Container.Constant constant, SafeTensors.Entry entry) {
        long own = entry.bytes().byteSize();
        boolean fits = constant.byteSize() == own || constant.byteSize() == Math.ceilDiv(own, ALIGNMENT) * ALIGNMENT;
        if (!fits || constant.datatype() != entry.datatype()) {
            throw GatunException.invalidArgument(what + " has a weight '" + constant.originalName() + "' of "
                    + constant.byteSize() + " bytes of " + constant.datatype() + ", the file beside it one of " + own
                    + " bytes of " + entry.datatype() + ": they are of different models");
        }
    }

    @Override
    public void close() {
        tensors.forEach(aten::delete);
        aten.live().tell();
        arena.close();
    }
}
