// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.bindings.HeapTrimmer;
import gatun.bindings.Torch;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.memory.threads.Cores;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;

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

    /** A model that owns {@code loaded}; {@code threads} of an operation are 0 when not configured. */
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

    /** Runs a model. Reads inputs in place unless the model writes to them; copies outputs once. Cannot be stopped. */
    static final class TorchInstance implements BackendInstance {
        private static final long ALIGNMENT = 64;

        private final TorchModel model;
        private final boolean isBound;
        private final int inputCount;

        /** Shared, since short runs come on the requests' threads. */
        private final Arena arena = Arena.ofShared();

        private final AtenTensors tensors = new AtenTensors(arena);
        private final MemorySegment inputs;
        private final MemorySegment outputs;
        private final Run run;

        /** This run's input at each model position, as numbers, which spare the collector. */
        private final int[] indexes;

        private final long[] sizes;
        private final Map<String, OutputForm> outputForms = new HashMap<>();

        TorchInstance(TorchModel model, boolean isBound) {
            this.model = model;
            this.isBound = isBound;
            inputCount = model.loaded().inputNames().size();
            int outputCount = model.loaded().outputNames().size();
            inputs = AtenTensors.arguments(arena, ValueLayout.ADDRESS, Math.max(1, inputCount));
            outputs = AtenTensors.arguments(arena, ValueLayout.ADDRESS, Math.max(1, outputCount));
            run = new Run(tensors, inputs, inputCount, outputs, outputCount);
            model.outputs()
                    .forEach((name, output) ->
                            outputForms.put(name, new OutputForm(name, output.position(), output.datatype())));
            indexes = new int[inputCount];
            sizes = new long[model.rules().map(ShapeRules::symbolCount).orElse(0)];
        }

        @Override
        public boolean isBoundToThread() {
            return isBound;
        }

        @Override
        public void execute(Execution execution) {
            take(execution);
            // Only for inputs that must not be touched: others have none.
            Arena copies = null;
            try (run) {
                for (int i = 0; i < inputCount; i++) {
                    Tensor tensor = execution.input(indexes[i]);
                    TensorSpec spec = tensor.spec();
                    MemorySegment bytes = tensor.bytes();
                    if (model.isChanged(i)
                            || bytes.address() % Math.max(1, spec.datatype().byteSize()) != 0) {
                        copies = copies == null ? Arena.ofShared() : copies;
                        bytes = copies.allocate(Math.max(1, bytes.byteSize()), ALIGNMENT)
                                .copyFrom(bytes);
                    }
                    inputs.setAtIndex(ValueLayout.ADDRESS, i, tensors.around(bytes, spec.datatype(), spec.shape()));
                }
                execution.inferStarted();
                run.start(model.loaded().container());
                execution.inferEnded();
                for (int i = 0; i < execution.outputCount(); i++) {
                    place(i, execution);
                }
            } finally {
                if (copies != null) {
                    copies.close();
                }
            }
        }

        private void take(Execution execution) {
            int count = execution.inputCount();
            if (count != inputCount) {
                throw GatunException.invalidArgument("the request has " + count + " of the model's " + inputCount
                        + " inputs; PyTorch's models have no optional ones");
            }
            for (int i = 0; i < count; i++) {
                indexes[model.inputPosition(execution.inputSpec(i).name())] = i;
            }
            IntFunction<Shape> shapes =
                    position -> execution.inputSpec(indexes[position]).shape();
            model.rules().ifPresent(rules -> rules.check(shapes, sizes));
        }

        private void place(int index, Execution execution) {
            OutputForm form = outputForms.get(execution.outputName(index));
            if (form == null) {
                throw new GatunException(
                        ErrorCode.INTERNAL, "the model has no output '" + execution.outputName(index) + "'");
            }
            MemorySegment tensor = outputs.getAtIndex(ValueLayout.ADDRESS, form.position());
            form.look(tensors, tensor);
            tensors.copy(
                    tensor,
                    form.datatype(),
                    form.shape(),
                    execution.output(index, form.datatype(), form.shape(), form.byteSize()));
        }

        @Override
        public void close() {
            arena.close();
        }
    }
}
