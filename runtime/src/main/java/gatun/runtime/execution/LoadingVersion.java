// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.TensorSpec;
import gatun.runtime.ModelVersion;
import gatun.spi.EntryPoint;
import gatun.wire.inference.ModelConfig;
import java.util.List;
import java.util.SequencedMap;

/** A version while its instances start: what their warm-up requests are sent to. Immutable. */
record LoadingVersion(
        ModelConfig config, long version, ModelSignature signature, SequencedMap<String, EntryPoint> entryPoints)
        implements ModelVersion {
    @Override
    public String versionText() {
        return Long.toString(version);
    }

    @Override
    public List<TensorSpec> inputs() {
        return signature.inputSpecs();
    }

    @Override
    public List<TensorSpec> outputs() {
        return signature.outputSpecs();
    }

    @Override
    public boolean ready() {
        return false;
    }

    @Override
    public List<String> readyVersions() {
        return List.of();
    }
}
