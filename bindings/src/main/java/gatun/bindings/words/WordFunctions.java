// SPDX-License-Identifier: Apache-2.0
package gatun.bindings.words;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Collections;
import java.util.NoSuchElementException;

/**
 * Links C functions whose parameters and result are pointers or integers, as functions of pointers. To link a shape of a
 * function, which is the types of its parameters and its result, takes milliseconds of a start, and the linker keeps
 * each shape: so there is one for each number of parameters.
 *
 * <p>An integer is given as {@link MemorySegment#ofAddress} of it. In the calling conventions of Linux on x86-64 (System
 * V) and aarch64 (AAPCS64) both are a register or 8 bytes of stack, of which the function reads as many bits as its
 * parameter has. A result that is an integer is the address of what comes back, cut to its size; what comes back of a
 * function without a result means nothing. Not for floating point, structures and variadic functions.
 */
public final class WordFunctions {
    private WordFunctions() {}

    /** A handle that takes the function's address, and then {@code parameters} pointers. */
    @SuppressWarnings("restricted")
    public static MethodHandle taking(int parameters) {
        return Linker.nativeLinker().downcallHandle(shape(parameters));
    }

    /** A handle of a function with that many pointer parameters. Throws NoSuchElementException when there is none. */
    @SuppressWarnings("restricted")
    public static MethodHandle find(SymbolLookup symbols, String name, int parameters) {
        MemorySegment function = symbols.find(name).orElseThrow(() -> new NoSuchElementException(name));
        return Linker.nativeLinker().downcallHandle(function, shape(parameters));
    }

    /** The same for a function of the C library. */
    public static MethodHandle find(String name, int parameters) {
        return find(Linker.nativeLinker().defaultLookup(), name, parameters);
    }

    private static FunctionDescriptor shape(int parameters) {
        return FunctionDescriptor.of(
                ADDRESS, Collections.nCopies(parameters, ADDRESS).toArray(MemoryLayout[]::new));
    }
}
