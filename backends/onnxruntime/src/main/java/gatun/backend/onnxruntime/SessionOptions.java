// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.NativeException;
import gatun.bindings.onnxruntime.OrtApi;
import gatun.bindings.onnxruntime.onnxruntime_h;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Native session options of a configuration and its {@link OnnxParameters}. Owns one native object. */
final class SessionOptions implements AutoCloseable {
    private final Engine engine;
    private final MemorySegment handle;

    /** Whether this holds a pool of threads for the session. */
    private boolean hasPool;

    private SessionOptions(Engine engine, MemorySegment handle) {
        this.engine = engine;
        this.handle = handle;
    }

    /** Options with {@code threads} per operator. Throws {@link GatunException} INVALID_ARGUMENT for a bad value. */
    static SessionOptions of(
            Engine engine, ModelConfig config, OnnxParameters parameters, List<Path> operators, int threads) {
        try (Arena scratch = Arena.ofConfined()) {
            SessionOptions options = create(engine, scratch);
            try {
                options.apply(config, parameters, threads, scratch);
                options.register(operators, config.getName());
                return options;
            } catch (NativeException e) {
                options.close();
                throw OnnxErrors.ofOptions(e, config.getName());
            } catch (RuntimeException | Error e) {
                options.close();
                throw e;
            }
        }
    }

    static SessionOptions forDescription(Engine engine, String model, List<Path> operators) {
        try (Arena scratch = Arena.ofConfined()) {
            SessionOptions options = create(engine, scratch);
            try {
                options.graphOptimization(onnxruntime_h.ORT_DISABLE_ALL());
                options.intraOpThreads(1, new OnnxParameters(Map.of()));
                options.register(operators, model);
                return options;
            } catch (RuntimeException | Error e) {
                options.close();
                throw e;
            }
        }
    }

    private static SessionOptions create(Engine engine, Arena scratch) {
        MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
        engine.check(OrtApi.createSessionOptions(engine.api(), out));
        return new SessionOptions(engine, out.get(ValueLayout.ADDRESS, 0));
    }

    MemorySegment handle() {
        return handle;
    }

    private void apply(ModelConfig config, OnnxParameters parameters, int threads, Arena scratch) {
        MemorySegment api = engine.api();
        intraOpThreads(threads, parameters);
        Accelerators.append(engine, this, config);
        parameters.interOpThreads().ifPresent(count -> engine.check(OrtApi.setInterOpNumThreads(api, handle, count)));
        engine.check(OrtApi.setSessionExecutionMode(
                api,
                handle,
                parameters.flag("execution_mode", false)
                        ? onnxruntime_h.ORT_PARALLEL()
                        : onnxruntime_h.ORT_SEQUENTIAL()));
        graphOptimization(
                switch (config.getOptimization().getGraph().getLevel()) {
                    case -1 -> onnxruntime_h.ORT_ENABLE_BASIC();
                    case 1 -> onnxruntime_h.ORT_ENABLE_EXTENDED();
                    case 2 -> onnxruntime_h.ORT_DISABLE_ALL();
                    default -> onnxruntime_h.ORT_ENABLE_ALL();
                });
        if (!parameters.usesArenas()) {
            engine.check(OrtApi.disableCpuMemArena(api, handle));
        }
        if (!parameters.flag("enable_mem_pattern", true)) {
            engine.check(OrtApi.disableMemPattern(api, handle));
        }
        Map<String, String> entries = parameters.sessionEntries();
        SessionThreads.of(threads, engine.version()).addTo(entries);
        entries.forEach((name, value) -> engine.check(
                OrtApi.addSessionConfigEntry(api, handle, scratch.allocateFrom(name), scratch.allocateFrom(value))));
    }

    /** Makes the operators of libraries known to the session, which keeps the libraries as long as it lives. */
    private void register(List<Path> operators, String model) {
        for (Path library : operators) {
            try (Arena scratch = Arena.ofConfined()) {
                engine.check(OrtApi.registerCustomOpsLibrary_V2(
                        engine.api(), handle, scratch.allocateFrom(library.toString())));
            } catch (NativeException e) {
                throw OnnxErrors.ofOperators(e, model, library, engine.version());
            }
        }
    }

    private void intraOpThreads(int count, OnnxParameters parameters) {
        if (count > 1) {
            hasPool = engine.pools().takeOwn(parameters.intraOpThreads().isPresent());
            if (!hasPool) {
                engine.check(OrtApi.disablePerSessionThreads(engine.api(), handle));
                return;
            }
        }
        engine.poolThreads().use(handle);
        engine.check(OrtApi.setIntraOpNumThreads(engine.api(), handle, count));
    }

    void leaveGraph() {
        graphOptimization(onnxruntime_h.ORT_DISABLE_ALL());
    }

    void writeOptimized(Path file) {
        try (Arena scratch = Arena.ofConfined()) {
            engine.check(OrtApi.setOptimizedModelFilePath(engine.api(), handle, scratch.allocateFrom(file.toString())));
        }
    }

    /** Whether the session is to have a pool of threads of its own; it gives that back from now on. */
    boolean handOverPool() {
        boolean handed = hasPool;
        hasPool = false;
        return handed;
    }

    private void graphOptimization(int level) {
        engine.check(OrtApi.setSessionGraphOptimizationLevel(engine.api(), handle, level));
    }

    @Override
    public void close() {
        if (handOverPool()) {
            engine.pools().giveBackOwn();
        }
        OrtApi.releaseSessionOptions(engine.api(), handle);
    }
}
