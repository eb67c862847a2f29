// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.runtime.placement.ModelTuning;
import gatun.runtime.ratelimit.RateLimitedRunner;
import gatun.runtime.ratelimit.RateLimiter;
import gatun.runtime.scheduling.BatchRunner;
import gatun.runtime.statistics.ModelCounters;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInstanceGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The instances of a model version, as the groups of its configuration ask for them. For one change at a time. */
final class ModelInstances {
    private final InstanceResources resources;
    private final RateLimiter rateLimiter;

    /** Those that serve, in the order of their groups. */
    private volatile List<Placed> placed = List.of();

    private volatile List<CudaDevice> gpus = List.of();
    private int madeCount;

    ModelInstances(InstanceResources resources, RateLimiter rateLimiter) {
        this.resources = resources;
        this.rateLimiter = rateLimiter;
    }

    /** An instance, its group's {@code settings} without name, count and devices, and its rate-limited runner. */
    private record Placed(
            String name,
            Device device,
            ModelInstanceGroup settings,
            ModelInstance instance,
            BatchRunner<PendingInference> runner) {}

    /** A change of the instances to those of another configuration, which has not been made yet. */
    static final class Change {
        private final List<Placed> result;
        private final List<Placed> added;
        private final List<Placed> removed;

        private Change(List<Placed> result, List<Placed> added, List<Placed> removed) {
            this.result = List.copyOf(result);
            this.added = List.copyOf(added);
            this.removed = List.copyOf(removed);
        }

        List<BatchRunner<PendingInference>> added() {
            return added.stream().map(Placed::runner).toList();
        }

        /** Instances that are to be closed. */
        List<BatchRunner<PendingInference>> removed() {
            return removed.stream().map(Placed::runner).toList();
        }
    }

    /** The change to {@code config}; instances of unchanged groups stay. To be made or given up. */
    Change toward(ModelConfig config) {
        int count = config.getInstanceGroupList().stream()
                .mapToInt(group -> group.getCount() * devices(group).size())
                .sum();
        List<Placed> left = new ArrayList<>(placed);
        List<Placed> result = new ArrayList<>(count);
        List<Placed> added = new ArrayList<>();
        for (ModelInstanceGroup group : config.getInstanceGroupList()) {
            int ordinal = 0;
            for (Device device : devices(group)) {
                for (int i = 0; i < group.getCount(); i++) {
                    String name = group.getName() + "_" + ordinal++;
                    Placed next = present(left, name, device, settings(group)).orElse(null);
                    if (next == null) {
                        next = make(name, group, device, count);
                        added.add(next);
                    } else {
                        left.remove(next);
                    }
                    result.add(next);
                }
            }
        }
        return new Change(result, added, left);
    }

    private static List<Device> devices(ModelInstanceGroup group) {
        return group.getKind() == ModelInstanceGroup.Kind.KIND_GPU
                ? group.getGpusList().stream()
                        .map(gpu -> new Device(Device.Kind.GPU, gpu))
                        .toList()
                : List.of(Device.CPU);
    }

    private static ModelInstanceGroup settings(ModelInstanceGroup group) {
        return group.toBuilder().clearName().clearCount().clearGpus().build();
    }

    /** One of {@code instances} that is as wanted, by that name if there is one. */
    private static Optional<Placed> present(
            List<Placed> instances, String name, Device device, ModelInstanceGroup settings) {
        List<Placed> fitting = instances.stream()
                .filter(instance ->
                        instance.device().equals(device) && instance.settings().equals(settings))
                .toList();
        return fitting.stream()
                .filter(instance -> instance.name().equals(name))
                .findFirst()
                .or(() -> fitting.stream().findFirst());
    }

    private Placed make(String name, ModelInstanceGroup group, Device device, int count) {
        InstanceSpec spec = new InstanceSpec(name, count, device, resources.tuning());
        ModelInstance instance = new ModelInstance(spec, madeCount++, resources);
        return new Placed(name, device, settings(group), instance, RateLimitedRunner.of(instance, group, rateLimiter));
    }

    void apply(Change change) {
        placed = change.result;
        gpus = change.result.stream()
                .map(Placed::device)
                .filter(device -> device.kind() == Device.Kind.GPU)
                .distinct()
                .flatMap(device -> CudaDevices.find().device(device.ordinal()).stream())
                .toList();
    }

    /** Notes that a change will not be made, and that none of its new instances is open. */
    void givenUp(Change change) {
        change.added.forEach(added -> added.instance().countNoMore());
    }

    /** Why one of them cannot run any more: its GPU has failed. Empty as long as all can. */
    Optional<String> failure() {
        List<CudaDevice> used = gpus;
        for (int i = 0; i < used.size(); i++) {
            Optional<String> failure = used.get(i).failure();
            if (failure.isPresent()) {
                return failure;
            }
        }
        return Optional.empty();
    }

    int count() {
        return placed.size();
    }

    /**
     * What all instances of a model version share; {@code sequences} is null when the model has none. The requests of
     * {@code failedSenders} run alone for a while.
     */
    record InstanceResources(
            BackendModel model,
            ModelSignature signature,
            @Nullable SequenceModel sequences,
            BufferPool pool,
            WarmUp warmUp,
            ModelCounters counters,
            LoadWatch progress,
            FailedSenders failedSenders,
            BatchingTrial trial,
            ModelTuning tuning) {
        /** Whether the requests of a run keep their own tensors. */
        boolean runsApart() {
            BatchTensors tensors = signature.batchTensors();
            return model.takesRequestsApart() && (tensors == null || !tensors.joinsRequests());
        }
    }
}
