// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.lang.foreign.ValueLayout.ADDRESS;

import gatun.bindings.onnxruntime.OrtApi;
import gatun.bindings.words.WordFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes the threads of pools in place of ONNX Runtime. A thread has the priority of the one that makes it, for good:
 * made by the library, those of a session that a thread of {@linkplain ThreadPriority lower priority} opens would run
 * requests at that priority too. These are all made by one thread, which has the priority of the one that makes this
 * object. Usable from any thread.
 */
public final class OrtPoolThreads implements AutoCloseable {
    /** Stack size of the library's own threads; the JVM's have less. Only the used part takes memory. */
    private static final long STACK_BYTES = 8 << 20;

    // OrtCustomThreadHandle (*OrtCustomCreateThreadFn)(void *options, OrtThreadWorkerFn worker, void *param)
    private static final FunctionDescriptor CREATE = FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, ADDRESS);
    // void (*OrtCustomJoinThreadFn)(OrtCustomThreadHandle handle)
    private static final FunctionDescriptor JOIN = FunctionDescriptor.ofVoid(ADDRESS);

    private final OnnxRuntime runtime;
    private final MethodHandle worker;
    private final MemorySegment create;
    private final MemorySegment join;
    private final ExecutorService starter = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("onnxruntime-starter").factory());
    private final Map<Long, Thread> threads = new ConcurrentHashMap<>();
    private final AtomicLong made = new AtomicLong();

    /** Links early what an object of this class would link. For any thread, without the library. */
    @SuppressWarnings("restricted")
    static void prepare() {
        try (Arena scratch = Arena.ofConfined()) {
            for (FunctionDescriptor called : List.of(CREATE, JOIN)) {
                Linker.nativeLinker().upcallStub(MethodHandles.empty(called.toMethodType()), called, scratch);
            }
        }
    }

    /** @param runtime the library that the threads are for */
    @SuppressWarnings("restricted")
    public OrtPoolThreads(OnnxRuntime runtime) {
        this.runtime = runtime;
        Linker linker = Linker.nativeLinker();
        // void (*OrtThreadWorkerFn)(void *param)
        worker = WordFunctions.taking(1);
        Creating creating = (options, function, param) -> create(function, param);
        Joining joining = this::join;
        create = linker.upcallStub(
                method(Creating.class, "create", CREATE.toMethodType()).bindTo(creating), CREATE, Arena.global());
        join = linker.upcallStub(
                method(Joining.class, "join", JOIN.toMethodType()).bindTo(joining), JOIN, Arena.global());
        // Now, by this thread: later it could be one of lower priority that makes it.
        starter.execute(() -> {});
    }

    private static MethodHandle method(Class<?> type, String name, MethodType shape) {
        try {
            return MethodHandles.lookup().findVirtual(type, name, shape);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("an interface of this class is missing", e);
        }
    }

    /** Has a session with {@code sessionOptions} get its threads here. Throws NativeException if refused. */
    public void use(MemorySegment sessionOptions) {
        runtime.check(OrtApi.sessionOptionsSetCustomCreateThreadFn(runtime.api(), sessionOptions, create));
        runtime.check(OrtApi.sessionOptionsSetCustomJoinThreadFn(runtime.api(), sessionOptions, join));
    }

    /**
     * Makes no more threads: no session can be opened from now on. Those that were made go on until their sessions end.
     */
    @Override
    public void close() {
        starter.shutdown();
    }

    /** Called by the library, which a failure must not reach; NULL has it refuse the session. */
    private MemorySegment create(MemorySegment function, MemorySegment param) {
        try {
            long id = made.incrementAndGet();
            Thread thread = Thread.ofPlatform()
                    .daemon()
                    .name("onnxruntime-" + id)
                    .stackSize(STACK_BYTES)
                    .unstarted(() -> work(function, param));
            CountDownLatch tried = new CountDownLatch(1);
            starter.execute(() -> {
                try {
                    thread.start();
                    threads.put(id, thread);
                } finally {
                    tried.countDown();
                }
            });
            awaitUninterruptibly(tried::await);
            return threads.containsKey(id) ? MemorySegment.ofAddress(id) : MemorySegment.NULL;
        } catch (Throwable t) {
            return MemorySegment.NULL;
        }
    }

    private void work(MemorySegment function, MemorySegment param) {
        try {
            MemorySegment ignored = (MemorySegment) worker.invokeExact(function, param);
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    /** Called by the library, which has told the thread to end. */
    private void join(MemorySegment handle) {
        Thread thread = threads.remove(handle.address());
        if (thread != null) {
            awaitUninterruptibly(thread::join);
        }
    }

    private static void awaitUninterruptibly(Waiting waiting) {
        boolean interrupted = false;
        while (true) {
            try {
                waiting.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @FunctionalInterface
    interface Creating {
        MemorySegment create(MemorySegment options, MemorySegment function, MemorySegment param);
    }

    @FunctionalInterface
    interface Joining {
        void join(MemorySegment handle);
    }

    @FunctionalInterface
    private interface Waiting {
        void await() throws InterruptedException;
    }
}
