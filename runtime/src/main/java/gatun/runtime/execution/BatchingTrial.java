// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ElementValues;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.spi.BackendInstance;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Finds out at the load whether requests of a model without configured batching may share runs, as an open first
 * dimension does not mean independent rows: runs made-up requests alone and together. Where responses differ, or
 * nothing is found in time, each request runs alone. Thread-safe.
 */
final class BatchingTrial {
    private static final String LATE = "a trial of whether rows depend on one another takes longer than a second";
    private static final List<List<Integer>> TOGETHER = List.of(List.of(0, 1, 2), List.of(2, 0));

    private final LoadingVersion version;
    private final RequestCheck check;
    private final BufferPool pool;

    /** Whether an instance makes the trial, or none has to. */
    private final AtomicBoolean claimed;

    /** Why requests run alone; empty for no reason, null while nothing is known. The first to set it decides. */
    private final AtomicReference<@Nullable String> reason;

    /** @param known why requests run alone, empty for no reason; null where that is to be found out */
    BatchingTrial(LoadingVersion version, RequestCheck check, BufferPool pool, @Nullable String known) {
        this.version = version;
        this.check = check;
        this.pool = pool;
        claimed = new AtomicBoolean(known != null);
        reason = new AtomicReference<>(known);
    }

    static BatchingTrial of(VersionDefinition definition, LoadingVersion version, RequestCheck check, BufferPool pool) {
        boolean asked = !definition.batchesUnasked() || definition.backend().takesRequestsApart();
        String known = asked ? "" : definition.backend().dependenceOfRows().orElse(null);
        return new BatchingTrial(version, check, pool, known);
    }

    /** Whether the caller is to {@link #run} the trial; true once at most. */
    boolean claim() {
        return claimed.compareAndSet(false, true);
    }

    /** Why each request runs alone, for people to read; empty where requests may share runs. */
    Optional<String> reason() {
        String known = reason.get();
        return known == null ? Optional.of(LATE) : Optional.of(known).filter(text -> !text.isEmpty());
    }

    /** Notes that the time is over: what the trial still finds does not count. For any thread. */
    void giveUp() {
        reason.compareAndSet(null, LATE);
    }

    /** Makes the trial on an instance that serves nobody yet. */
    void run(BackendInstance instance, TimeLimit limit) {
        Optional<String> found = run(instance, limit, new TrialRequests(asConfigured(), false));
        for (EntryPoint other : version.entryPoints().values()) {
            if (found.isEmpty() && mayJoin(other)) {
                found = run(instance, limit, new TrialRequests(other, true));
            }
        }
        reason.compareAndSet(null, found.orElse(""));
    }

    /** The entry point for requests that name none, with the shapes that clients see. */
    private EntryPoint asConfigured() {
        ModelSignature signature = version.signature();
        List<EntryTensor> inputs = new ArrayList<>();
        for (int i = 0; i < signature.inputCount(); i++) {
            boolean optional = signature.input(i).optional();
            inputs.add(new EntryTensor(
                    version.inputs().get(i), false, version.inputs().get(i).name(), optional));
        }
        return new EntryPoint(EntryPoint.DEFAULT, "", inputs, List.of());
    }

    /** Whether requests that name an entry point may have a batch dimension, unlike those that name none. */
    @SuppressWarnings("ReferenceEquality") // the very one that the signature was made from
    private boolean mayJoin(EntryPoint entryPoint) {
        boolean isFirst = entryPoint == version.signature().entryPoint()
                && version.signature().isAsNamed();
        return !isFirst
                && !entryPoint.inputs().isEmpty()
                && entryPoint.inputs().stream()
                        .noneMatch(input ->
                                input.anyShape() || input.spec().shape().rank() == 0);
    }

    private Optional<String> run(BackendInstance instance, TimeLimit limit, TrialRequests requests) {
        String refusal = "its inputs are too large to try whether rows depend on one another";
        for (TrialRequests.Values values : requests.attempts()) {
            if (requests.fit(values)) {
                Attempt attempt = new Attempt(instance, limit, requests, values);
                switch (attempt.result()) {
                    case INDEPENDENT -> {
                        return Optional.empty();
                    }
                    case DEPENDENT -> {
                        return Optional.of(attempt.reason);
                    }
                    case LATE -> {
                        return Optional.of(LATE);
                    }
                    case REFUSED -> refusal = attempt.reason;
                }
            }
        }
        return Optional.of(refusal);
    }

    private enum Result {
        /** Each request has the response that it has alone. */
        INDEPENDENT,
        DEPENDENT,
        /** The model does not take the values, or tells nothing of them. */
        REFUSED,
        LATE
    }

    /** A trial with values of one kind. */
    private final class Attempt {
        private final BackendInstance instance;
        private final TimeLimit limit;
        private final TrialRequests requests;
        private final TrialRequests.Values values;
        private final BatchExecution execution;
        private final List<PendingInference> ran = new ArrayList<>();
        private String reason = "";

        Attempt(BackendInstance instance, TimeLimit limit, TrialRequests requests, TrialRequests.Values values) {
            this.instance = instance;
            this.limit = limit;
            this.requests = requests;
            this.values = values;
            execution = new BatchExecution(version.signature(), null, pool, null);
            execution.run().beforeInfer(limit::stopIfOver);
        }

        Result result() {
            try (Arena arena = Arena.ofConfined()) {
                return result(arena);
            } catch (GatunException e) {
                return refused(e.getMessage());
            } finally {
                for (PendingInference pending : ran) {
                    pending.drop();
                    pending.request().close();
                }
            }
        }

        private Result result(Arena arena) {
            List<PendingInference> alone = new ArrayList<>();
            for (int i = 0; i < TrialRequests.COUNT; i++) {
                PendingInference pending = pending(i, arena);
                if (pending.batchSize() == 0) {
                    return Result.INDEPENDENT; // Such requests never share a run.
                }
                alone.add(pending);
                Optional<String> failure = run(List.of(pending));
                if (failure.isPresent()) {
                    return limit.isOver() ? Result.LATE : refused(failure.get());
                }
                if (OutputComparison.tellsNothing(pending)) {
                    return refused("its outputs are no numbers");
                }
            }
            for (List<Integer> indexes : TOGETHER) {
                List<PendingInference> joined =
                        indexes.stream().map(index -> pending(index, arena)).toList();
                Optional<String> difference = run(joined).map(failure -> "requests that run together fail: " + failure);
                if (limit.isOver() && difference.isPresent()) {
                    return Result.LATE;
                }
                for (int i = 0; i < joined.size() && difference.isEmpty(); i++) {
                    difference = OutputComparison.difference(alone.get(indexes.get(i)), joined.get(i))
                            .map(found -> "rows depend on one another: " + found + " where requests run together");
                }
                if (difference.isPresent()) {
                    reason = difference.get();
                    return Result.DEPENDENT;
                }
            }
            return Result.INDEPENDENT;
        }

        private Result refused(String why) {
            reason = "whether rows depend on one another could not be tried: " + why;
            return Result.REFUSED;
        }

        private PendingInference pending(int index, Arena arena) {
            InferenceRequest request = requests.request(version, index, values, arena);
            PendingInference pending = check.pending(request, System.nanoTime());
            ran.add(pending);
            return pending;
        }

        /** Why a run failed, or did not begin; empty when it has succeeded. */
        private Optional<String> run(List<PendingInference> batch) {
            if (limit.isOver()) {
                return Optional.of(LATE);
            }
            try {
                execution.begin(batch);
                execution.run().markExecuting();
                instance.execute(execution);
                execution.finish();
                return batch.stream()
                        .flatMap(pending -> pending.failure().stream())
                        .map(GatunException::getMessage)
                        .findFirst();
            } catch (GatunException e) {
                return Optional.of(e.getMessage());
            } catch (RuntimeException e) {
                return Optional.of(e.toString());
            } finally {
                execution.clear();
            }
        }
    }

    /** Compares outputs of a request that ran alone and batched. Floats may differ a little. Stateless. */
    static final class OutputComparison {
        /** By how much numbers may differ, as a part of the largest one of the output. */
        private static final double PRECISE = 1e-5;

        /** The same for numbers of 16 bits. */
        private static final double COARSE = 1e-2;

        private OutputComparison() {}

        /** What differs, for people to read; empty when nothing does. */
        static Optional<String> difference(PendingInference alone, PendingInference joined) {
            for (int i = 0; i < alone.tensors().outputCount(); i++) {
                String name = alone.tensors().rule(i).name();
                Optional<String> difference = difference(alone.result(i), joined.result(i));
                if (difference.isPresent()) {
                    return Optional.of("output '" + name + "' " + difference.get());
                }
            }
            return Optional.empty();
        }

        private static Optional<String> difference(@Nullable OutputTensor alone, @Nullable OutputTensor joined) {
            if (alone == null || joined == null) {
                boolean both = alone == null && joined == null;
                return both ? Optional.empty() : Optional.of("is not always made");
            }
            Tensor expected = alone.tensor();
            Tensor actual = joined.tensor();
            if (!expected.spec().equals(actual.spec())) {
                return Optional.of("has shape " + actual.spec().shape() + " instead of "
                        + expected.spec().shape());
            }
            Datatype datatype = expected.spec().datatype();
            if (!isReal(datatype)) {
                return expected.bytes().mismatch(actual.bytes()) < 0 ? Optional.empty() : Optional.of("is another");
            }
            double part = farthest(datatype, expected.bytes(), actual.bytes());
            double allowed = datatype.byteSize() == Short.BYTES ? COARSE : PRECISE;
            return part <= allowed
                    ? Optional.empty()
                    : Optional.of(String.format(Locale.ROOT, "differs by %.2g of its largest value", part));
        }

        /** By how much numbers differ most, as a part of the largest expected one; infinite where one is no number. */
        private static double farthest(Datatype datatype, MemorySegment expected, MemorySegment actual) {
            long count = expected.byteSize() / datatype.byteSize();
            double largest = 0;
            double farthest = 0;
            for (long i = 0; i < count; i++) {
                double wanted = element(datatype, expected, i);
                double given = element(datatype, actual, i);
                if (Double.isFinite(wanted)) {
                    largest = Math.max(largest, Math.abs(wanted));
                }
                if (Double.compare(wanted, given) != 0 && wanted != given) {
                    double distance = Math.abs(wanted - given);
                    farthest = Double.isNaN(distance) ? Double.POSITIVE_INFINITY : Math.max(farthest, distance);
                }
            }
            return farthest == 0 ? 0 : farthest / largest;
        }

        /** Whether an output of a request is made of numbers none of which is finite: such responses are all alike. */
        static boolean tellsNothing(PendingInference ran) {
            for (int i = 0; i < ran.tensors().outputCount(); i++) {
                OutputTensor result = ran.result(i);
                if (result != null && tellsNothing(result.tensor())) {
                    return true;
                }
            }
            return false;
        }

        private static boolean tellsNothing(Tensor output) {
            Datatype datatype = output.spec().datatype();
            if (!isReal(datatype) || output.byteSize() == 0) {
                return false;
            }
            for (long i = 0; i < output.byteSize() / datatype.byteSize(); i++) {
                if (Double.isFinite(element(datatype, output.bytes(), i))) {
                    return false;
                }
            }
            return true;
        }

        private static boolean isReal(Datatype datatype) {
            return switch (datatype) {
                case FP16, BF16, FP32, FP64 -> true;
                default -> false;
            };
        }

        private static double element(Datatype datatype, MemorySegment bytes, long index) {
            return switch (datatype) {
                case FP16 -> Float.float16ToFloat(bytes.getAtIndex(ElementLayouts.INT16, index));
                case BF16 -> ElementValues.fromBfloat16(bytes.getAtIndex(ElementLayouts.INT16, index));
                case FP32 -> bytes.getAtIndex(ElementLayouts.FP32, index);
                default -> bytes.getAtIndex(ElementLayouts.FP64, index);
            };
        }
    }
}
