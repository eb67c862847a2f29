// SPDX-License-Identifier: Apache-2.0
package gatun.memory.cuda;

import gatun.bindings.Cuda;
import gatun.bindings.NativeMemory;
import gatun.bindings.cuda.cuda_h;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A GPU, used in its primary context, which all users in a process share. Safe for any thread.
 *
 * <p>CUDA keeps the current context for each thread of the system, and a virtual thread changes the one that it is on:
 * either a platform thread stays with the device ({@link #makeCurrent}), or single calls are made through
 * {@link #call}.
 *
 * <p>Some errors are sticky: after them every call in the context fails, until the process ends. Then the device counts
 * as failed, and every call for it is refused with the first reason.
 */
public final class CudaDevice {
    private static final Logger LOG = System.getLogger("gatun.memory");
    private static final int NAME_BYTES = 256;

    // Codes of CUresult after which, by cuda.h, a context is of no more use: device unavailable, ECC, NVLink,
    // contained, illegal address, launch timeout, context destroyed, assert, hardware stack, illegal instruction,
    // misaligned address, address space, program counter, launch failed, tensor memory leak, external device.
    private static final Set<Integer> STICKY =
            Set.of(46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 911);

    private final int ordinal;
    private final int handle;
    private final String name;
    private final long totalBytes;
    private final DeviceThreads threads;
    private final DevicePool pool;
    private final AtomicReference<@Nullable MemorySegment> context = new AtomicReference<>();
    private final AtomicReference<@Nullable String> failure = new AtomicReference<>();
    private final Map<Runnable, Runnable> listeners = new ConcurrentHashMap<>();

    private CudaDevice(int ordinal, int handle, String name, long totalBytes) {
        this.ordinal = ordinal;
        this.handle = handle;
        this.name = name;
        this.totalBytes = totalBytes;
        this.threads = new DeviceThreads("gpu-" + ordinal);
        this.pool = new DevicePool(this, totalBytes);
    }

    /** The device of that number, which must exist. */
    static CudaDevice open(int ordinal) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment device = scratch.allocate(cuda_h.C_INT);
            require(cuda_h.cuDeviceGet(device, ordinal), ordinal, "cuDeviceGet");
            int handle = device.get(cuda_h.C_INT, 0);
            MemorySegment name = scratch.allocate(NAME_BYTES);
            require(cuda_h.cuDeviceGetName(name, NAME_BYTES, handle), ordinal, "cuDeviceGetName");
            MemorySegment bytes = scratch.allocate(cuda_h.C_LONG);
            require(cuda_h.cuDeviceTotalMem_v2(bytes, handle), ordinal, "cuDeviceTotalMem");
            return new CudaDevice(ordinal, handle, name.getString(0), bytes.get(cuda_h.C_LONG, 0));
        }
    }

    /** Its number, as CUDA counts the GPUs of this process. */
    public int ordinal() {
        return ordinal;
    }

    /** Its product name. */
    public String name() {
        return name;
    }

    /** All of its memory, in bytes. */
    public long totalBytes() {
        return totalBytes;
    }

    /** The value of a {@code CU_DEVICE_ATTRIBUTE_*}. Throws INTERNAL when CUDA does not know it. */
    public int attribute(int attribute) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment value = scratch.allocate(cuda_h.C_INT);
            check(cuda_h.cuDeviceGetAttribute(value, attribute, handle), "cuDeviceGetAttribute " + attribute);
            return value.get(cuda_h.C_INT, 0);
        }
    }

    /** Lends its memory. */
    public DevicePool pool() {
        return pool;
    }

    /** The message for whoever wants to use the device after it has failed; empty while it works. */
    public Optional<String> failure() {
        return Optional.ofNullable(failure.get());
    }

    /**
     * Makes this the calling thread's current device, until another is. Throws UNAVAILABLE when the device has failed,
     * IllegalStateException for a virtual thread, which cannot have one.
     */
    public void makeCurrent() {
        if (Thread.currentThread().isVirtual()) {
            throw new IllegalStateException("a virtual thread has no CUDA context of its own; use call()");
        }
        check(cuda_h.cuCtxSetCurrent(context()), "cuCtxSetCurrent");
    }

    /**
     * Runs {@code task} with this device as the current one: here, or on a thread of the device's for a virtual caller.
     * Returns when it is done, or throws what it throws; UNAVAILABLE when the device has failed.
     */
    public <T> T call(Supplier<T> task) {
        return Thread.currentThread().isVirtual() ? threads.call(() -> within(task)) : within(task);
    }

    /** As {@link #call}, for a task without a result. */
    public void run(Runnable task) {
        call(() -> {
            task.run();
            return true;
        });
    }

    private <T> T within(Supplier<T> task) {
        check(cuda_h.cuCtxPushCurrent_v2(context()), "cuCtxPushCurrent");
        try {
            return task.get();
        } finally {
            try (Arena scratch = Arena.ofConfined()) {
                cuda_h.cuCtxPopCurrent_v2(scratch.allocate(cuda_h.C_POINTER));
            }
        }
    }

    /** The primary context, made at its first use and kept until the process ends. */
    private MemorySegment context() {
        requireWorking();
        MemorySegment present = context.get();
        if (present != null) {
            return present;
        }
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(cuda_h.C_POINTER);
            check(cuda_h.cuDevicePrimaryCtxRetain(out, handle), "cuDevicePrimaryCtxRetain");
            MemorySegment retained = out.get(cuda_h.C_POINTER, 0);
            if (!context.compareAndSet(null, retained)) {
                // Another thread was first, and one claim is enough.
                cuda_h.cuDevicePrimaryCtxRelease_v2(handle);
            }
            return retained;
        }
    }

    /**
     * Locks {@code memory}, in system memory, so that all GPUs copy from there and to there by themselves, while the
     * processor does something else. The caller keeps the memory mapped until the result is closed.
     *
     * @throws GatunException when the system lets no more be locked, or the device has failed
     */
    public Hold lock(MemorySegment memory) {
        run(() -> check(
                cuda_h.cuMemHostRegister_v2(memory, memory.byteSize(), cuda_h.CU_MEMHOSTREGISTER_PORTABLE()),
                "cuMemHostRegister of " + memory.byteSize() + " bytes"));
        return () -> {
            try {
                run(() -> cuda_h.cuMemHostUnregister(memory));
            } catch (GatunException e) {
                LOG.log(Level.DEBUG, "memory stays locked for a device that failed", e);
            }
        };
    }

    /** A stream for the calling thread, whose current device this is. The caller closes it. */
    public CudaStream newStream() {
        return CudaStream.open(this);
    }

    /**
     * Copies all of {@code from} to the beginning of {@code to}, on this device, and waits for it. For any thread.
     * Throws INTERNAL when CUDA fails, UNAVAILABLE when the device has failed.
     */
    public void copyToDevice(MemorySegment from, DeviceMemory to) {
        DeviceMemory target = to.slice(0, from.byteSize());
        MemorySegment source = forAnyThread(from);
        run(() -> {
            check(cuda_h.cuMemcpyHtoD_v2(target.address(), source, source.byteSize()), "cuMemcpyHtoD");
            // From pageable memory CUDA returns when it has read all, which is before all has arrived.
            check(cuda_h.cuStreamSynchronize(MemorySegment.NULL), "cuStreamSynchronize");
        });
    }

    /** Copies all of {@code from}, on this device, to the beginning of {@code to}; as {@link #copyToDevice}. */
    public void copyToHost(DeviceMemory from, MemorySegment to) {
        MemorySegment target = forAnyThread(to.asSlice(0, from.byteSize()));
        run(() -> check(cuda_h.cuMemcpyDtoH_v2(target, from.address(), from.byteSize()), "cuMemcpyDtoH"));
    }

    /** The same memory for the thread that calls CUDA: a virtual thread's may be confined to it. */
    private static MemorySegment forAnyThread(MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException(
                    "the memory is on the heap, which GPUs cannot copy: expected native memory");
        }
        return Thread.currentThread().isVirtual() ? NativeMemory.segment(memory.address(), memory.byteSize()) : memory;
    }

    /**
     * Checks the {@code CUresult} of a call, {@code what} in the message. Throws UNAVAILABLE when memory is short or
     * the device has failed, INTERNAL for others, with CUDA's text.
     */
    public void check(int result, String what) {
        if (result == cuda_h.CUDA_SUCCESS()) {
            return;
        }
        if (STICKY.contains(result)) {
            fail(what + ": " + Cuda.errorText(result));
            requireWorking();
        }
        require(result, ordinal, what);
    }

    private void fail(String reason) {
        String text = "GPU " + ordinal + " has failed (" + reason + "); restart the server to use it again";
        if (failure.compareAndSet(null, text)) {
            LOG.log(
                    Level.ERROR,
                    "{0} has failed: {1}. What runs there is unavailable until the server restarts",
                    this,
                    reason);
            listeners.values().forEach(Runnable::run);
        }
    }

    /** Calls {@code listener} once if the device fails, not if it has. Closing the result removes it. */
    public Hold onFailure(Runnable listener) {
        listeners.put(listener, listener);
        return () -> listeners.remove(listener);
    }

    /** Throws {@link GatunException} UNAVAILABLE when the device has failed. */
    public void requireWorking() {
        String text = failure.get();
        if (text != null) {
            throw new GatunException(ErrorCode.UNAVAILABLE, text);
        }
    }

    private static void require(int result, int ordinal, String what) {
        if (result != cuda_h.CUDA_SUCCESS()) {
            boolean full = result == cuda_h.CUDA_ERROR_OUT_OF_MEMORY();
            throw new GatunException(
                    full ? ErrorCode.UNAVAILABLE : ErrorCode.INTERNAL,
                    "GPU " + ordinal + ": " + what + ": " + Cuda.errorText(result));
        }
    }

    @Override
    public String toString() {
        return "GPU " + ordinal + " (" + name + ")";
    }

    /** Platform threads that call CUDA for virtual ones and end when idle for a while. Thread-safe. */
    static final class DeviceThreads {
        /** A GPU copies in each direction at once, and one call may wait. */
        private static final int COUNT = 4;

        private static final long IDLE_SECONDS = 10;

        private final ThreadPoolExecutor threads;

        DeviceThreads(String name) {
            threads = new ThreadPoolExecutor(
                    COUNT,
                    COUNT,
                    IDLE_SECONDS,
                    TimeUnit.SECONDS,
                    new LinkedBlockingQueue<>(),
                    Thread.ofPlatform().daemon().name(name + "-", 0).factory());
            threads.allowCoreThreadTimeOut(true);
        }

        /** Runs {@code task} on one of the threads, and returns or throws its outcome. Not interruptible. */
        <T> T call(Supplier<T> task) {
            try {
                return CompletableFuture.supplyAsync(task, threads).join();
            } catch (CompletionException e) {
                switch (Objects.requireNonNullElse(e.getCause(), e)) {
                    case RuntimeException failure -> throw failure;
                    case Error failure -> throw failure;
                    default -> throw e;
                }
            }
        }
    }
}
