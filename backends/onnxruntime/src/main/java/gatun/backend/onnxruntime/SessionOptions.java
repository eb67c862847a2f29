package gatun.backend.onnxruntime;

import gatun.bindings.NativeException;
import gatun.bindings.onnxruntime.OrtApi;
import gatun.bindings.onnxruntime.onnxruntime_h;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.protocol.inference.ModelConfig;
import gatun.protocol.inference.ModelParameter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Native session options made from a model's configuration, in the parameter names that users of Triton's ONNX Runtime backend know:
 * {@code intra_op_thread_count}, {@code inter_op_thread_count}, {@code execution_mode}, {@code enable_mem_arena}, {@code
 * enable_mem_pattern}, {@code optimization.graph.level}, and any entry of the engine's own session configuration, such as {@code
 * session.intra_op.allow_spinning}. Owns one native object.
 */
final class SessionOptions implements AutoCloseable {
    /** Parameters with these beginnings go to the engine as they are. */
    private static final List<String> ENTRY_PREFIXES = List.of("session.", "optimization.", "memory.", "ep.", "mlas.");

    /** The engine makes the threads that it is told to, and ends the process when the system has no more. */
    private static final int MAX_THREADS = 1024;

    private final Engine engine;
    private final MemorySegment handle;

    private SessionOptions(Engine engine, MemorySegment handle) {
        this.engine = engine;
        this.handle = handle;
    }

    /**
     * Options for one of {@code instanceCount} instances of a model.
     *
     * @throws GatunException INVALID_ARGUMENT for a parameter that has no such value
     */
    static SessionOptions of(Engine engine, ModelConfig config, int instanceCount) {
        try (Arena scratch = Arena.ofConfined()) {
            SessionOptions options = create(engine, scratch);
            try {
                options.apply(config, instanceCount, scratch);
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

    /** Options that open a model as cheaply as possible, to read its description only. */
    static SessionOptions forDescription(Engine engine) {
        try (Arena scratch = Arena.ofConfined()) {
            SessionOptions options = create(engine, scratch);
            options.graphOptimization(onnxruntime_h.ORT_DISABLE_ALL());
            options.intraOpThreads(1);
            return options;
        }
    }

    private static SessionOptions create(Engine engine, Arena scratch) {
        MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
        engine.check(OrtApi.CreateSessionOptions.invoke(OrtApi.CreateSessionOptions(engine.api()), out));
        return new SessionOptions(engine, out.get(ValueLayout.ADDRESS, 0));
    }

    MemorySegment handle() {
        return handle;
    }

    private void apply(ModelConfig config, int instanceCount, Arena scratch) {
        Map<String, String> parameters = new TreeMap<>();
        for (Map.Entry<String, ModelParameter> parameter :
                config.getParametersMap().entrySet()) {
            parameters.put(
                    parameter.getKey(), parameter.getValue().getStringValue().strip());
        }
        if (config.getOptimization().getExecutionAccelerators().getCpuExecutionAcceleratorCount() > 0
                || config.getOptimization().getExecutionAccelerators().getGpuExecutionAcceleratorCount() > 0) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "execution accelerators are not part of this server; remove 'execution_accelerators' from the"
                            + " configuration of model '" + config.getName() + "'");
        }
        MemorySegment api = engine.api();
        int intraOp = number(parameters, "intra_op_thread_count", 0);
        SessionThreads threads = SessionThreads.choose(
                intraOp > 0 ? Optional.of(intraOp) : Optional.empty(),
                Runtime.getRuntime().availableProcessors(),
                instanceCount,
                engine.version());
        intraOpThreads(threads.count());
        threads.addTo(parameters);
        int interOp = number(parameters, "inter_op_thread_count", 0);
        if (interOp > 0) {
            engine.check(OrtApi.SetInterOpNumThreads.invoke(OrtApi.SetInterOpNumThreads(api), handle, interOp));
        }
        engine.check(OrtApi.SetSessionExecutionMode.invoke(
                OrtApi.SetSessionExecutionMode(api),
                handle,
                flag(parameters, "execution_mode", false)
                        ? onnxruntime_h.ORT_PARALLEL()
                        : onnxruntime_h.ORT_SEQUENTIAL()));
        graphOptimization(
                switch (config.getOptimization().getGraph().getLevel()) {
                    case -1 -> onnxruntime_h.ORT_ENABLE_BASIC();
                    case 1 -> onnxruntime_h.ORT_ENABLE_EXTENDED();
                    case 2 -> onnxruntime_h.ORT_DISABLE_ALL();
                    default -> onnxruntime_h.ORT_ENABLE_ALL();
                });
        if (!flag(parameters, "enable_mem_arena", true)) {
            engine.check(OrtApi.DisableCpuMemArena.invoke(OrtApi.DisableCpuMemArena(api), handle));
        }
        if (!flag(parameters, "enable_mem_pattern", true)) {
            engine.check(OrtApi.DisableMemPattern.invoke(OrtApi.DisableMemPattern(api), handle));
        }
        for (Map.Entry<String, String> parameter : parameters.entrySet()) {
            requireNoFile(parameter.getKey());
            if (ENTRY_PREFIXES.stream().anyMatch(parameter.getKey()::startsWith)
                    && !parameter.getKey().equals("memory.enable_memory_arena_shrinkage")) {
                engine.check(OrtApi.AddSessionConfigEntry.invoke(
                        OrtApi.AddSessionConfigEntry(api),
                        handle,
                        scratch.allocateFrom(parameter.getKey()),
                        scratch.allocateFrom(parameter.getValue())));
            }
        }
    }

    /** Some entries have the engine read or write files anywhere; whoever may load a model may not do that. */
    private static void requireNoFile(String name) {
        if (ENTRY_PREFIXES.stream().anyMatch(name::startsWith) && (name.contains("path") || name.contains("file"))) {
            throw GatunException.invalidArgument("parameter '" + name
                    + "' names a file for the engine, which is not allowed; put the model's files into its folder");
        }
    }

    private void intraOpThreads(int count) {
        engine.check(OrtApi.SetIntraOpNumThreads.invoke(OrtApi.SetIntraOpNumThreads(engine.api()), handle, count));
    }

    private void graphOptimization(int level) {
        engine.check(OrtApi.SetSessionGraphOptimizationLevel.invoke(
                OrtApi.SetSessionGraphOptimizationLevel(engine.api()), handle, level));
    }

    private static int number(Map<String, String> parameters, String name, int absent) {
        String text = parameters.get(name);
        if (text == null) {
            return absent;
        }
        try {
            int value = Integer.parseInt(text);
            if (value > MAX_THREADS) {
                throw GatunException.invalidArgument(
                        "parameter '" + name + "' is '" + text + "'; expected at most " + MAX_THREADS);
            }
            if (value >= 0) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Falls through to the one error for everything that is no count.
        }
        throw GatunException.invalidArgument("parameter '" + name + "' is '" + text + "'; expected a number >= 0");
    }

    private static boolean flag(Map<String, String> parameters, String name, boolean absent) {
        String text = parameters.get(name);
        if (text == null) {
            return absent;
        }
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "1", "true" -> true;
            case "0", "false" -> false;
            default ->
                throw GatunException.invalidArgument(
                        "parameter '" + name + "' is '" + text + "'; expected 0, 1, true or false");
        };
    }

    @Override
    public void close() {
        OrtApi.ReleaseSessionOptions.invoke(OrtApi.ReleaseSessionOptions(engine.api()), handle);
    }
}
