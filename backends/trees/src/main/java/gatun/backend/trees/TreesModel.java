// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.bindings.HeapTrimmer;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.EntryPoint;
import gatun.spi.InstanceSpec;
import java.util.List;

/** A loaded forest, which all instances ask. Owns it. */
final class TreesModel implements BackendModel {
    private final Forest forest;
    private final List<ForestOutput> outputs;
    private final EntryPoint entryPoint;
    private final RunThreads threads;

    TreesModel(Forest forest, List<ForestOutput> outputs, EntryPoint entryPoint, RunThreads threads) {
        this.forest = forest;
        this.outputs = List.copyOf(outputs);
        this.entryPoint = entryPoint;
        this.threads = threads;
    }

    @Override
    public List<EntryPoint> entryPoints() {
        return List.of(entryPoint);
    }

    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        return new TreesInstance(forest, outputs, threads.count(), spec.instanceCount() == 1);
    }

    @Override
    public List<String> choices() {
        return List.of(threads.text());
    }

    @Override
    public void close() {
        forest.close();
        HeapTrimmer.OF_PROCESS.ask();
    }
}
