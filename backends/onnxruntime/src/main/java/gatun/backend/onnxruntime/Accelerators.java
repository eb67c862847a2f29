// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.NativeException;
import gatun.bindings.onnxruntime.OrtApi;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelOptimizationPolicy.ExecutionAccelerators.Accelerator;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Execution accelerators of a configuration; refused where the library lacks them, as the server's own does. */
final class Accelerators {
    /** By configured name: the engine's names for adding it and for listing it. */
    private static final Map<String, Provider> KNOWN = Map.of(
            "openvino", new Provider("OpenVINO", "OpenVINOExecutionProvider"),
            "xnnpack", new Provider("XNNPACK", "XnnpackExecutionProvider"));

    private Accelerators() {}

    private record Provider(String name, String listed) {}

    /** Adds a configuration's. Throws GatunException UNSUPPORTED if missing, INVALID_ARGUMENT for bad parameters. */
    static void append(Engine engine, SessionOptions options, ModelConfig config) {
        for (Accelerator accelerator :
                config.getOptimization().getExecutionAccelerators().getGpuExecutionAcceleratorList()) {
            throw refused(
                    config,
                    accelerator.getName(),
                    "instances on GPUs run on CUDA, whose options are parameters of the model");
        }
        for (Accelerator accelerator :
                config.getOptimization().getExecutionAccelerators().getCpuExecutionAcceleratorList()) {
            Provider provider = KNOWN.get(accelerator.getName().toLowerCase(Locale.ROOT));
            if (provider == null) {
                throw refused(config, accelerator.getName(), "those that can be used are openvino and xnnpack");
            }
            List<String> present = engine.providers();
            if (!present.contains(provider.listed())) {
                throw refused(
                        config,
                        accelerator.getName(),
                        "ONNX Runtime " + engine.version() + " in " + engine.library() + " was built without it, with "
                                + String.join(", ", present)
                                + " only; name a library that has it with "
                                + EngineOptions.library("PATH"));
            }
            append(engine, options, provider, accelerator, config);
        }
    }

    private static void append(
            Engine engine, SessionOptions options, Provider provider, Accelerator accelerator, ModelConfig config) {
        Map<String, String> parameters = new TreeMap<>(accelerator.getParametersMap());
        try (Arena scratch = Arena.ofConfined()) {
            engine.check(OrtApi.sessionOptionsAppendExecutionProvider(
                    engine.api(),
                    options.handle(),
                    scratch.allocateFrom(provider.name()),
                    texts(List.copyOf(parameters.keySet()), scratch),
                    texts(new ArrayList<>(parameters.values()), scratch),
                    parameters.size()));
        } catch (NativeException e) {
            throw OnnxErrors.ofOptions(e, config.getName());
        }
    }

    static MemorySegment texts(List<String> texts, Arena arena) {
        MemorySegment array = arena.allocate(ValueLayout.ADDRESS, Math.max(1, texts.size()));
        for (int i = 0; i < texts.size(); i++) {
            array.setAtIndex(ValueLayout.ADDRESS, i, arena.allocateFrom(texts.get(i)));
        }
        return array;
    }

    private static GatunException refused(ModelConfig config, String name, String reason) {
        return new GatunException(
                ErrorCode.UNSUPPORTED,
                "model '" + config.getName() + "' asks for the execution accelerator '" + name + "': " + reason
                        + "; or remove it from 'execution_accelerators'");
    }
}
