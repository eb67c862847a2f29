// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Calls of C functions that report failure by {@code errno}, which jextract does not capture. Thread-safe. Linking
 * takes milliseconds: do it at the first call, and not by the generated classes, which would link their own too.
 */
final class SystemCall {
    private static final int FAILED = -1;
    /** No errno is greater, and no result that means success lies between its negative and 0. */
    private static final int GREATEST_ERRNO = 4095;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemoryLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CALL_STATE.varHandle(groupElement("errno"));

    private SystemCall() {}

    /** One call that tells failure by -1 and sets errno. */
    @FunctionalInterface
    interface Call {
        long invoke(MemorySegment state, Arena scratch) throws Throwable;
    }

    /** The result of a call, which is made again when a signal interrupted it; throws as {@link #succeeded}. */
    static long checked(String call, Object subject, Call body) {
        long result;
        do {
            result = attempt(body);
        } while (result == -Errno.EINTR.code());
        return succeeded(call, subject, result);
    }

    /** The result of {@link #attempt}. Throws {@link SystemCallException} when it is a failure. */
    static long succeeded(String call, Object subject, long result) {
        if (result < 0 && result >= -GREATEST_ERRNO) {
            throw new SystemCallException(call, subject.toString(), (int) -result);
        }
        return result;
    }

    /** The call's result or, as the kernel itself tells it, the negated errno. */
    static long attempt(Call body) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment state = scratch.allocate(CALL_STATE);
            long result = body.invoke(state, scratch);
            return result == FAILED ? -(int) ERRNO.get(state, 0L) : result;
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    /** A handle for {@link Call}s to the function of the C library with that name. */
    @SuppressWarnings("restricted")
    static MethodHandle capturing(String function, MemoryLayout result, MemoryLayout... parameters) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().find(function).orElseThrow(),
                FunctionDescriptor.of(result, parameters),
                Linker.Option.captureCallState("errno"));
    }

    /** The same for a function whose arguments from number {@code firstVariadic} on are variadic. */
    @SuppressWarnings("restricted")
    static MethodHandle capturingVariadic(MemorySegment address, int firstVariadic, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(
                address,
                descriptor,
                Linker.Option.captureCallState("errno"),
                Linker.Option.firstVariadicArg(firstVariadic));
    }
}
