// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.configuration.WarmUpSample;
import gatun.runtime.configuration.WarmUpSample.Content;
import gatun.runtime.execution.TrialRequests.MadeUpElements;
import gatun.runtime.execution.VersionDefinition.WarmUpPlan;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** Runs a model's warm-up samples on an instance before it serves; they count as requests. Immutable. */
final class WarmUp {
    private static final int ALIGNMENT = 64;

    /** Any fixed number, so that every start of the server sends the same. */
    private static final long SEED = 20_011_914;

    private final WarmUpPlan plan;
    private final LoadingVersion version;
    private final RequestCheck check;

    WarmUp(WarmUpPlan plan, LoadingVersion version, RequestCheck check) {
        this.plan = plan;
        this.version = version;
        this.check = check;
    }

    /** Runs all samples and requests as batches, by {@code instance}. Throws the first failure, and why. */
    void run(Consumer<List<PendingInference>> instance) {
        for (WarmUpSample sample : plan.samples()) {
            try (Arena arena = Arena.ofConfined()) {
                List<Tensor> inputs = tensors(sample, arena);
                for (int run = 0; run < sample.runCount(); run++) {
                    run(sample, inputs, instance);
                }
            }
        }
        plan.source().send(version, plan.directory(), request -> answer(request, instance));
    }

    private InferenceResponse answer(InferenceRequest request, Consumer<List<PendingInference>> instance) {
        try (request) {
            if (version.decoupled()) {
                throw RequestErrors.decoupled(version.name());
            }
            PendingInference pending = check.pending(request, System.nanoTime());
            instance.accept(List.of(pending));
            pending.failure().ifPresent(failure -> {
                throw failure;
            });
            return pending.response(version.name(), version.versionText());
        }
    }

    private static List<Tensor> tensors(WarmUpSample sample, Arena arena) {
        SplittableRandom numbers = new SplittableRandom(SEED);
        List<Tensor> tensors = new ArrayList<>();
        for (WarmUpSample.Input input : sample.inputs()) {
            MemorySegment bytes = arena.allocate(input.byteSize(), ALIGNMENT);
            switch (input.content()) {
                case Content.Zeros zeros -> {}
                case Content.Random random ->
                    MadeUpElements.fill(bytes, input.spec().datatype(), numbers::nextLong, numbers::nextDouble);
                case Content.Data data -> bytes.copyFrom(data.bytes());
            }
            tensors.add(new Tensor(input.spec(), bytes));
        }
        return tensors;
    }

    private void run(WarmUpSample sample, List<Tensor> inputs, Consumer<List<PendingInference>> instance) {
        List<PendingInference> requests = new ArrayList<>();
        for (int i = 0; i < sample.requestCount(); i++) {
            requests.add(pending(inputs));
        }
        if (version.signature().leadingDims() > 0 && !version.decoupled()) {
            instance.accept(requests);
        } else {
            requests.forEach(pending -> instance.accept(List.of(pending)));
        }
        Set<String> failures = new LinkedHashSet<>();
        for (PendingInference pending : requests) {
            pending.failure()
                    .ifPresentOrElse(failure -> failures.add(failure.getMessage() + "; "), () -> drop(pending));
        }
        if (!failures.isEmpty()) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "failed to run warmup sample '" + sample.name() + "': " + String.join("", failures));
        }
    }

    private void drop(PendingInference answered) {
        if (!version.decoupled()) {
            answered.response(version.name(), version.versionText()).close();
        }
    }

    /** A request with these inputs, among them those that clients do not send, such as a sequence's controls. */
    private PendingInference pending(List<Tensor> inputs) {
        InferenceRequest request = new InferenceRequest(version);
        List<Tensor> more = new ArrayList<>();
        for (Tensor input : inputs) {
            if (version.signature().inputIndex(input.spec().name(), 0) >= 0) {
                request.addInput(input);
            } else {
                more.add(input);
            }
        }
        PendingInference pending = check.pending(request, System.nanoTime());
        PendingInference complete = more.isEmpty() ? pending : pending.with(more);
        if (version.config().getSequenceBatching().getIterativeSequence()) {
            complete.allowRunAgain();
        }
        if (version.decoupled()) {
            // Delivered at once, since this very thread runs the instance; so nothing ever waits.
            complete.respondTo(new ResponseStream((response, last) -> response.close(), Duration.ZERO));
        }
        return complete;
    }
}
