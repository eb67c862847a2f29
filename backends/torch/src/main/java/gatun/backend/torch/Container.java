// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.bindings.Descriptor;
import gatun.bindings.MemoryLibrary;
import gatun.bindings.NativeMemory;
import gatun.bindings.torch.AOTInductorGetLastError;
import gatun.bindings.torch.AOTInductorModelContainerCreateWithDevice;
import gatun.bindings.torch.AOTInductorModelContainerDelete;
import gatun.bindings.torch.AOTInductorModelContainerGetCallSpec;
import gatun.bindings.torch.AOTInductorModelContainerGetConstantDataSize;
import gatun.bindings.torch.AOTInductorModelContainerGetConstantDtype;
import gatun.bindings.torch.AOTInductorModelContainerGetConstantName;
import gatun.bindings.torch.AOTInductorModelContainerGetCount;
import gatun.bindings.torch.AOTInductorModelContainerRun;
import gatun.bindings.torch.AOTInductorModelContainerUpdateUserManagedConstantBufferPairs;
import gatun.bindings.torch.AOTInductorModelUpdateConstantsFromBlob;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Owns a model's library and container: some copies with shared constants. Thread-safe; closed once. */
final class Container implements AutoCloseable {
    private static final String DESCRIBE = "describe the model";

    private final MemoryLibrary library;
    private final MemorySegment container;
    private final MemorySegment run;
    private final MemorySegment lastError;
    private final String what;

    /** How inputs and outputs are nested, as JSON; empty when the library does not say it. */
    record Nesting(String inputs, String outputs) {}

    /** A weight or another constant; {@code byteSize} may include bytes between it and the next. */
    record Constant(String name, String originalName, Datatype datatype, long byteSize) {}

    private Container(MemoryLibrary library, MemorySegment container, String what) {
        this.library = library;
        this.container = container;
        this.what = what;
        run = function("AOTInductorModelContainerRun");
        lastError = library.find("AOTInductorGetLastError").orElse(MemorySegment.NULL);
    }

    /** Loads a library, and owns {@code file} even if that fails. Throws INVALID_ARGUMENT with the loader's reason. */
    static Container open(Descriptor file, int models, String what) {
        MemoryLibrary library = load(file, what);
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment create = function(library, "AOTInductorModelContainerCreateWithDevice", what);
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            int returned = AOTInductorModelContainerCreateWithDevice.invoke(
                    create, out, models, scratch.allocateFrom("cpu"), MemorySegment.NULL);
            if (returned != 0) {
                throw GatunException.invalidArgument(what + " cannot be loaded: " + lastError(library));
            }
            return new Container(library, out.get(ValueLayout.ADDRESS, 0), what);
        } catch (RuntimeException | Error e) {
            library.close();
            throw e;
        }
    }

    private static MemoryLibrary load(Descriptor file, String what) {
        try {
            return MemoryLibrary.load(file);
        } catch (MemoryLibrary.LibraryException e) {
            file.close();
            throw GatunException.invalidArgument(what + " cannot be loaded: " + e.said()
                    + ". A function that is not there is one of another version of PyTorch: compile the model with the"
                    + " version that serves it, or name that version's library with "
                    + TorchLibrary.option("PATH"));
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    private static MemorySegment function(MemoryLibrary library, String name, String what) {
        return library.find(name)
                .orElseThrow(() -> GatunException.invalidArgument(what + " has a library without " + name
                        + ": it is no model of AOTInductor, or one of a version that is too old; compile it again"));
    }

    private MemorySegment function(String name) {
        return function(library, name, what);
    }

    private static String lastError(MemoryLibrary library) {
        return lastError(library.find("AOTInductorGetLastError").orElse(MemorySegment.NULL));
    }

    private static String lastError(MemorySegment function) {
        if (function.address() == 0) {
            return "PyTorch's reason stands on the server's standard error output";
        }
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            AOTInductorGetLastError.invoke(function, out);
            return NativeMemory.string(out.get(ValueLayout.ADDRESS, 0)).strip();
        }
    }

    private void check(int returned, String doing) {
        if (returned != 0) {
            throw GatunException.invalidArgument(what + ": PyTorch cannot " + doing + ": " + lastError(lastError));
        }
    }

    private long count(String function) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.JAVA_LONG);
            check(AOTInductorModelContainerGetCount.invoke(function(function), container, out), DESCRIBE);
            return out.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    int inputCount() {
        return Math.toIntExact(count("AOTInductorModelContainerGetNumInputs"));
    }

    int outputCount() {
        return Math.toIntExact(count("AOTInductorModelContainerGetNumOutputs"));
    }

    /** How inputs and outputs are nested; empty when the library does not say it. */
    Optional<Nesting> nesting() {
        return library.find("AOTInductorModelContainerGetCallSpec").map(function -> {
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment out = scratch.allocate(ValueLayout.ADDRESS, 2);
                check(
                        AOTInductorModelContainerGetCallSpec.invoke(
                                function, container, out, out.asSlice(ValueLayout.ADDRESS.byteSize())),
                        DESCRIBE);
                return new Nesting(
                        NativeMemory.string(out.getAtIndex(ValueLayout.ADDRESS, 0)),
                        NativeMemory.string(out.getAtIndex(ValueLayout.ADDRESS, 1)));
            }
        });
    }

    /** How many bytes all constants take, where they lie in one piece. */
    long constantsByteSize() {
        return count("AOTInductorModelContainerGetConstantsBlobSize");
    }

    List<Constant> constants() {
        int count = Math.toIntExact(count("AOTInductorModelContainerGetNumConstants"));
        MemorySegment names = function("AOTInductorModelContainerGetConstantName");
        MemorySegment originals = function("AOTInductorModelContainerGetConstantOriginalFQN");
        MemorySegment datatypes = function("AOTInductorModelContainerGetConstantDtype");
        MemorySegment sizes = function("AOTInductorModelContainerGetConstantDataSize");
        List<Constant> constants = new ArrayList<>();
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            for (int i = 0; i < count; i++) {
                String name = constantName(names, i, out);
                String original = constantName(originals, i, out);
                check(AOTInductorModelContainerGetConstantDtype.invoke(datatypes, container, i, out), DESCRIBE);
                Datatype datatype = ElementTypes.datatype(out.get(ValueLayout.JAVA_INT, 0));
                check(AOTInductorModelContainerGetConstantDataSize.invoke(sizes, container, i, out), DESCRIBE);
                constants.add(new Constant(name, original, datatype, out.get(ValueLayout.JAVA_LONG, 0)));
            }
        }
        return constants;
    }

    private String constantName(MemorySegment function, int index, MemorySegment out) {
        check(AOTInductorModelContainerGetConstantName.invoke(function, container, index, out), DESCRIBE);
        return NativeMemory.string(out.get(ValueLayout.ADDRESS, 0));
    }

    /** Has the model read its constants from {@code bytes}, which must stay until this is closed. */
    void useConstants(MemorySegment bytes) {
        check(
                AOTInductorModelUpdateConstantsFromBlob.invoke(
                        function("AOTInductorModelUpdateConstantsFromBlob"), container, bytes),
                "take the weights");
    }

    /** Gives the model its constants as pairs of names and tensors, which must stay until this is closed. */
    void useConstants(MemorySegment pairs, int count) {
        check(
                AOTInductorModelContainerUpdateUserManagedConstantBufferPairs.invoke(
                        function("AOTInductorModelContainerUpdateUserManagedConstantBufferPairs"),
                        container,
                        pairs,
                        count,
                        false,
                        true),
                "take the weights");
    }

    /** Runs the model, or waits for a free copy. PyTorch deletes inputs, the caller outputs. Throws INTERNAL. */
    void run(MemorySegment inputs, int inputCount, MemorySegment outputs, int outputCount) {
        int returned = AOTInductorModelContainerRun.invoke(
                run, container, inputs, inputCount, outputs, outputCount, MemorySegment.NULL, MemorySegment.NULL);
        if (returned != 0) {
            throw new GatunException(ErrorCode.INTERNAL, "PyTorch failed: " + lastError(lastError));
        }
    }

    @Override
    public void close() {
        AOTInductorModelContainerDelete.invoke(function("AOTInductorModelContainerDelete"), container);
        library.close();
    }
}
