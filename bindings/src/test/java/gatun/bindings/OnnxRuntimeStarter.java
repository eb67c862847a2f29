// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.onnxruntime.OrtApi;
import gatun.bindings.onnxruntime.onnxruntime_h;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/**
 * A process that opens the library its first argument names and makes an environment, on a thread with the usual stack.
 */
final class OnnxRuntimeStarter {
    private OnnxRuntimeStarter() {}

    public static void main(String[] arguments) throws InterruptedException {
        Thread starter = Thread.ofPlatform().start(() -> start(Path.of(arguments[0])));
        starter.join();
    }

    private static void start(Path file) {
        OnnxRuntime runtime = OnnxRuntime.of((NativeLibrary.Available) OnnxRuntime.open(file));
        try (Arena scratch = Arena.ofConfined()) {
            runtime.check(OrtApi.createEnv(
                    runtime.api(),
                    onnxruntime_h.ORT_LOGGING_LEVEL_WARNING(),
                    scratch.allocateFrom("starter"),
                    scratch.allocate(ValueLayout.ADDRESS)));
            System.out.println("started");
        }
    }
}
