// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.NativeException;
import gatun.bindings.onnxruntime.OrtApi;
import gatun.memory.cuda.CudaStream;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelParameter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** ONNX Runtime's provider for NVIDIA's GPUs: a file beside the library in some builds. */
final class CudaProvider {
    private static final String NAME = "CUDAExecutionProvider";
    private static final String FILE = "libonnxruntime_providers_cuda.so";

    /** Model parameters that Triton's backend passes to this provider. */
    private static final Set<String> PARAMETERS = Set.of(
            "arena_extend_strategy",
            "cudnn_conv_algo_search",
            "cudnn_conv_use_max_workspace",
            "gpu_mem_limit",
            "tunable_op_enable",
            "use_tf32");

    private CudaProvider() {}

    /** What is missing to run models on GPUs, as far as known before a load; empty for nothing. */
    static String missing(Engine engine) {
        Path library = engine.library();
        if (!engine.providers().contains(NAME)) {
            return "ONNX Runtime " + engine.version() + " in " + library.getFileName()
                    + " was built without its CUDA provider; take a build for GPUs, such as the artifact"
                    + " com.microsoft.onnxruntime:onnxruntime_gpu, unpack its libraries into one folder and start the"
                    + " server with " + EngineOptions.library("<folder>/libonnxruntime.so");
        }
        Path provider = library.resolveSibling(FILE);
        if (!Files.isRegularFile(provider)) {
            return FILE + " is missing beside ONNX Runtime's library; unpack it into the same folder";
        }
        return "";
    }

    /** Adds the provider, which does all on {@code stream}. Throws GatunException UNAVAILABLE if not loaded. */
    static void append(Engine engine, SessionOptions options, ModelConfig config, CudaStream stream) {
        MemorySegment api = engine.api();
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            engine.check(OrtApi.createCUDAProviderOptions(api, out));
            MemorySegment cuda = out.get(ValueLayout.ADDRESS, 0);
            try {
                Map<String, String> settings = settings(config, stream);
                engine.check(OrtApi.updateCUDAProviderOptions(
                        api,
                        cuda,
                        Accelerators.texts(List.copyOf(settings.keySet()), scratch),
                        Accelerators.texts(new ArrayList<>(settings.values()), scratch),
                        settings.size()));
                engine.check(OrtApi.sessionOptionsAppendExecutionProvider_CUDA_V2(api, options.handle(), cuda));
            } finally {
                OrtApi.releaseCUDAProviderOptions(api, cuda);
            }
        } catch (NativeException e) {
            throw OnnxErrors.ofProvider(e, config.getName(), engine.library());
        }
    }

    private static Map<String, String> settings(ModelConfig config, CudaStream stream) {
        Map<String, String> settings = new TreeMap<>();
        for (Map.Entry<String, ModelParameter> parameter :
                config.getParametersMap().entrySet()) {
            if (PARAMETERS.contains(parameter.getKey())) {
                settings.put(
                        parameter.getKey(),
                        parameter.getValue().getStringValue().strip());
            }
        }
        settings.put("device_id", Integer.toString(stream.device().ordinal()));
        settings.put(
                "user_compute_stream", Long.toUnsignedString(stream.handle().address()));
        return settings;
    }
}
