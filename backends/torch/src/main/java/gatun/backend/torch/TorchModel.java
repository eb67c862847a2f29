// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.bindings.HeapTrimmer;
import gatun.bindings.Torch;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.Cores;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.InstanceSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A loaded model. All instances have the same constants. Owns the package. */
final class TorchModel implements BackendModel {
    /** What operators should know of a model whose loops have threads and check indices. */
    static final String FRAGILE =
            "an index out of range in a request ends the process that the model runs in; compile it"
                    + " with cpp.threads=1, or give it processes of its own with isolation: \"process\"";

    private final LoadedPackage loaded;
    private final Map<String, Integer> inputs;
    private final Map<String, ModelTensors.Output> outputs;
    private final Optional<ShapeRules> rules;
    private final boolean[] changed;
    private final int threads;

    /** Says how many threads the last instance was given; empty where none was. */
    private volatile String threadsText = "";

    /**
     * A model of {@code loaded}, which is closed with it.
     *
     * @param threads how many threads an operation may use; 0 when nobody said it
     */
    TorchModel(LoadedPackage loaded, ModelTensors tensors, int threads) {
        this.loaded = loaded;
        this.threads = threads;
        // Found faster than by Map.copyOf, for each input of each run.
        inputs = new HashMap<>(tensors.inputs());
        outputs = Map.copyOf(tensors.outputs());
        rules = tensors.rules();
        changed = new boolean[loaded.inputNames().size()];
        for (int i = 0; i < changed.length; i++) {
            int position = i;
            // Of a model of which nothing is known, anything may be.
            changed[i] =
                    loaded.forms().map(all -> all.get(position).isChanged()).orElse(true);
        }
    }

    LoadedPackage loaded() {
        return loaded;
    }

    Optional<ShapeRules> rules() {
        return rules;
    }

    /** Whether the model writes to the input at that position, or may do so. */
    boolean isChanged(int position) {
        return changed[position];
    }

    int inputPosition(String name) {
        Integer position = inputs.get(name);
        if (position == null) {
            throw new GatunException(ErrorCode.INTERNAL, "the model has no tensor '" + name + "'");
        }
        return position;
    }

    /** The outputs that may be asked for, by their names. */
    Map<String, ModelTensors.Output> outputs() {
        return outputs;
    }

    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        int share = Cores.share(spec.instanceCount());
        // Each thread that comes with work has a team of the library's threads, which stays with it: this is the
        // instance's.
        if (threads == 0 && Torch.setThreadsOfCaller(share)) {
            threadsText =
                    "threads of an operation: " + share + ", a share of the cores for each instance, unless the package"
                            + " was compiled with another number";
        }
        return new TorchInstance(this, threads != 1);
    }

    @Override
    public List<String> choices() {
        List<String> choices = new ArrayList<>();
        if (!threadsText.isEmpty()) {
            choices.add(threadsText);
        }
        if (rules.isEmpty()) {
            choices.add("shapes of requests are not checked, since " + Settings.UNCHECKED_SHAPES
                    + " is set and the package does not say them");
        }
        if (loaded.throwsInThreads()) {
            choices.add(FRAGILE);
        }
        return choices;
    }

    @Override
    public void close() {
        loaded.close();
        HeapTrimmer.OF_PROCESS.ask();
    }
}
