// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.Engine.RecentConcurrency.ActiveRuns;
import gatun.bindings.NativeMemory;
import gatun.bindings.OnnxRuntime;
import gatun.bindings.OrtPoolThreads;
import gatun.bindings.onnxruntime.OrtApi;
import gatun.bindings.onnxruntime.onnxruntime_h;
import gatun.memory.threads.Cores;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** The library with its one environment and shared objects. Thread-safe; lives as long as the process. */
final class Engine {
    private final OnnxRuntime runtime;
    private final MemorySegment api;
    private final MemorySegment environment;
    private final MemorySegment cpuMemory;
    private final MemorySegment allocator;
    private final ActiveRuns runs = new ActiveRuns();
    private final ThreadPools pools;
    private final OrtPoolThreads poolThreads;
    private final PartThreads partThreads = new PartThreads(Math.max(1, Cores.physical() - 1));
    private final Optional<OptimizedModels> optimized;

    /** Throws NativeException when the library refuses, GatunException UNAVAILABLE for a graph folder not writable. */
    Engine(OnnxRuntime runtime, EngineOptions options) {
        this.runtime = runtime;
        this.pools = new ThreadPools(options.sharesThreads());
        this.poolThreads = new OrtPoolThreads(runtime);
        this.optimized = options.modelCache().map(folder -> OptimizedModels.in(folder, runtime.version()));
        this.api = runtime.api();
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            environment = openEnvironment(scratch, out);
            check(OrtApi.createCpuMemoryInfo(
                    api, onnxruntime_h.OrtDeviceAllocator(), onnxruntime_h.OrtMemTypeDefault(), out));
            cpuMemory = out.get(ValueLayout.ADDRESS, 0);
            check(OrtApi.getAllocatorWithDefaultOptions(api, out));
            allocator = out.get(ValueLayout.ADDRESS, 0);
        }
    }

    /**
     * Opens it with threads that all sessions may share and that sleep when idle. One is the caller: other callers, and
     * threads of other pools, come on top of the cores; how many is not known when it is opened.
     */
    private MemorySegment openEnvironment(Arena scratch, MemorySegment out) {
        check(OrtApi.createThreadingOptions(api, out));
        MemorySegment threading = out.get(ValueLayout.ADDRESS, 0);
        try {
            check(OrtApi.setGlobalIntraOpNumThreads(api, threading, Cores.physical()));
            check(OrtApi.setGlobalInterOpNumThreads(api, threading, 1));
            check(OrtApi.setGlobalSpinControl(api, threading, 0));
            // The status of a run tells its error; the engine's own log would only repeat it.
            check(OrtApi.createEnvWithGlobalThreadPools(
                    api, onnxruntime_h.ORT_LOGGING_LEVEL_FATAL(), scratch.allocateFrom("gatun"), threading, out));
            return out.get(ValueLayout.ADDRESS, 0);
        } finally {
            OrtApi.releaseThreadingOptions(api, threading);
        }
    }

    MemorySegment api() {
        return api;
    }

    MemorySegment environment() {
        return environment;
    }

    /** Describes memory of the host, for values around memory that is not the engine's. */
    MemorySegment cpuMemory() {
        return cpuMemory;
    }

    /** The engine's own allocator of host memory. */
    MemorySegment allocator() {
        return allocator;
    }

    /** Describes memory of GPU {@code device}; the caller releases it with {@link #releaseMemoryInfo}. */
    MemorySegment cudaMemory(int device) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            check(OrtApi.createMemoryInfo(
                    api,
                    scratch.allocateFrom("Cuda"),
                    onnxruntime_h.OrtDeviceAllocator(),
                    device,
                    onnxruntime_h.OrtMemTypeDefault(),
                    out));
            return out.get(ValueLayout.ADDRESS, 0);
        }
    }

    void releaseMemoryInfo(MemorySegment info) {
        OrtApi.releaseMemoryInfo(api, info);
    }

    /** The execution providers that the library was built with, for instance {@code CPUExecutionProvider}. */
    List<String> providers() {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment names = scratch.allocate(ValueLayout.ADDRESS);
            MemorySegment count = scratch.allocate(ValueLayout.JAVA_INT);
            check(OrtApi.getAvailableProviders(api, names, count));
            int length = count.get(ValueLayout.JAVA_INT, 0);
            MemorySegment array = NativeMemory.segment(
                    names.get(ValueLayout.ADDRESS, 0).address(), length * ValueLayout.ADDRESS.byteSize());
            List<String> providers = new ArrayList<>();
            for (int i = 0; i < length; i++) {
                providers.add(NativeMemory.string(array.getAtIndex(ValueLayout.ADDRESS, i)));
            }
            check(OrtApi.releaseAvailableProviders(api, array, length));
            return providers;
        }
    }

    ActiveRuns runs() {
        return runs;
    }

    ThreadPools pools() {
        return pools;
    }

    OrtPoolThreads poolThreads() {
        return poolThreads;
    }

    PartThreads partThreads() {
        return partThreads;
    }

    /** Where optimised graphs are kept; empty for nowhere. */
    Optional<OptimizedModels> optimized() {
        return optimized;
    }

    Path library() {
        return runtime.path();
    }

    /** The library's version, for instance {@code 1.29.0}. */
    String version() {
        return runtime.version();
    }

    /** Takes a call's status: nothing for success. Throws NativeException with the engine's code and text. */
    void check(MemorySegment status) {
        runtime.check(status);
    }

    void releaseStatus(long address) {
        OrtApi.releaseStatus(api, MemorySegment.ofAddress(address));
    }

    void release(MemorySegment value) {
        OrtApi.releaseValue(api, value);
        LiveHandles.valueReleased();
    }

    /** Copies a string that the engine allocated, and frees it. */
    String take(MemorySegment text) {
        String copy = NativeMemory.string(text);
        check(OrtApi.allocatorFree(api, allocator, text));
        return copy;
    }

    /** Threads for parts of batches, one for each further core, only while needed. Thread-safe. */
    static final class PartThreads {
        private static final Duration IDLE = Duration.ofSeconds(10);

        private final Executor threads;

        /** @param most threads at a time, at least one */
        PartThreads(int most) {
            threads = new ThreadPoolExecutor(
                    0,
                    most,
                    IDLE.toMillis(),
                    TimeUnit.MILLISECONDS,
                    new SynchronousQueue<>(),
                    Thread.ofPlatform().daemon().name("onnx-part-", 1).factory(),
                    new ThreadPoolExecutor.CallerRunsPolicy());
        }

        /** Runs {@code part} on a thread of these; where all have something to do, it is done when this returns. */
        <T> Future<T> run(Callable<T> part) {
            FutureTask<T> task = new FutureTask<>(part);
            try {
                threads.execute(task);
            } catch (OutOfMemoryError e) {
                task.run(); // The system has no more threads.
            }
            return task;
        }
    }

    /**
     * Whether a model's runs had company of late: one that finds no other is not alone yet, as callers that wait for
     * responses begin their next runs together. Thread-safe; a lost update makes one run wider or narrower.
     */
    static final class RecentConcurrency {
        /** After so many runs without others a model's runs count as alone. */
        static final int MEMORY = 8;

        private final ActiveRuns runs;

        /** How many runs still count as beside others. */
        private volatile int left;

        /** @param runs counts those of all models */
        RecentConcurrency(ActiveRuns runs) {
            this.runs = runs;
        }

        /** A run begins; whether it has the machine to itself. */
        boolean beginAlone() {
            if (!runs.begin()) {
                meet();
                return false;
            }
            int before = left;
            if (before > 0) {
                left = before - 1;
            }
            return before == 0;
        }

        void end() {
            if (!runs.end()) {
                meet();
            }
        }

        private void meet() {
            if (left != MEMORY) {
                left = MEMORY;
            }
        }

        /** Present runs of all models, in words by core. Thread-safe: of two begins neither counts as alone. */
        static final class ActiveRuns {
            private final LongAdder count = new LongAdder();

            /** A run begins; whether it is the only one. */
            boolean begin() {
                count.increment();
                return count.sum() == 1;
            }

            /** A run ends; whether it is the last one. */
            boolean end() {
                count.decrement();
                return count.sum() == 0;
            }
        }
    }

    /** How many native objects are alive, so that operators and tests can tell a leak. Safe for any thread. */
    static final class LiveHandles {
        private static final AtomicLong SESSIONS = new AtomicLong();
        // Runs of all instances count here.
        private static final LongAdder VALUES = new LongAdder();

        private LiveHandles() {}

        static void sessionOpened() {
            SESSIONS.incrementAndGet();
        }

        static void sessionReleased() {
            SESSIONS.decrementAndGet();
        }

        static void valueCreated() {
            VALUES.increment();
        }

        static void valueReleased() {
            VALUES.decrement();
        }

        static long sessions() {
            return SESSIONS.get();
        }

        /** Values that were created or returned by a run, and not released. */
        static long values() {
            return VALUES.sum();
        }
    }
}
