// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.engine;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.ModelCall;
import gatun.spi.ModelMetrics;
import gatun.spi.ModelServer;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Map;

/**
 * What an engine in a process of its own can ask of the server: nothing.
 *
 * @param backend the engine, for messages
 */
record NoServer(String backend) implements ModelServer {
    private GatunException unsupported(String what) {
        return new GatunException(
                ErrorCode.UNSUPPORTED,
                "a model of backend '" + backend + "' in a process of its own cannot " + what
                        + "; run it in the server, without isolation");
    }

    @Override
    public void infer(ModelCall call, ModelCall.Responses responses) {
        throw unsupported("ask other models");
    }

    @Override
    public void load(String model, String configuration, Map<String, MemorySegment> files) {
        throw unsupported("load models");
    }

    @Override
    public void unload(String model, boolean dependents) {
        throw unsupported("unload models");
    }

    @Override
    public boolean isReady(String model, String version) {
        return false;
    }

    @Override
    public Path newFolder() {
        throw unsupported("have files of the server");
    }

    @Override
    public ModelMetrics metrics() {
        throw unsupported("make metrics");
    }
}
