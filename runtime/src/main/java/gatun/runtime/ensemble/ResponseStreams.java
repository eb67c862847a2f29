// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ensemble.EnsemblePlan.EnsembleStep;
import gatun.wire.inference.ModelConfig;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Which steps of an ensemble run once for each response of which decoupled member. Immutable. */
final class ResponseStreams {
    /** The stream of steps that run once for each request. */
    static final int NONE = -1;

    /**
     * Open responses behind one decoupled member where no limit is set: enough to keep instances busy or fill a batch,
     * and few enough that a slow client costs little memory.
     */
    private static final int OPEN_RESPONSES = 16;

    private final EnsemblePlan plan;
    private final boolean[] decoupled;
    private final int limit;
    private final int[] streams;

    private ResponseStreams(EnsemblePlan plan, boolean[] decoupled, int limit) {
        this.plan = plan;
        this.decoupled = decoupled;
        this.limit = limit;
        streams = new int[decoupled.length];
    }

    /** The streams of an ensemble. Throws INVALID_ARGUMENT when a step, or the response, would join two streams. */
    static ResponseStreams of(ModelConfig config, EnsemblePlan plan, boolean[] decoupled) {
        ResponseStreams streams = new ResponseStreams(plan, decoupled, inflightLimit(config));
        for (EnsembleStep step : plan.inOrder()) {
            streams.place(config.getName(), step);
        }
        List<Integer> path = List.of();
        for (int i = 0; i < config.getOutputCount(); i++) {
            List<Integer> other = streams.path(streams.ofTensor(plan.output(i)));
            boolean longer = other.size() > path.size();
            List<Integer> outer = longer ? path : other;
            path = longer ? other : path;
            if (!path.subList(0, outer.size()).equals(outer)) {
                throw joined(config.getName(), config.getName());
            }
        }
        return streams;
    }

    private void place(String ensemble, EnsembleStep step) {
        int stream = NONE;
        for (EnsembleStep.MappedTensor mapped : step.inputs()) {
            int source = ofTensor(mapped.tensor());
            if (stream != NONE && source != NONE && stream != source) {
                throw joined(ensemble, step.model());
            }
            stream = source == NONE ? stream : source;
        }
        streams[step.index()] = stream;
    }

    private static GatunException joined(String ensemble, String model) {
        return GatunException.invalidArgument("in ensemble " + ensemble + ", step of model '" + model
                + "' receives inputs originated from different decoupled models"
                + (model.equals(ensemble) ? ": the ensemble's outputs must come from one of them" : ""));
    }

    /** Whether any step gives more or less than one response. */
    boolean any() {
        for (boolean each : decoupled) {
            if (each) {
                return true;
            }
        }
        return false;
    }

    boolean isDecoupled(int step) {
        return decoupled[step];
    }

    /** The decoupled step for each of whose responses {@code step} runs, or {@link #NONE}. */
    int ofStep(int step) {
        return streams[step];
    }

    /** How many responses of a decoupled step may be on their way: as many as the steps behind it may work at. */
    int capacity(int step) {
        if (limit == 0) {
            return OPEN_RESPONSES;
        }
        long behind = Arrays.stream(streams).filter(stream -> stream == step).count();
        return Math.clamp(limit * Math.max(1, behind), 1, Integer.MAX_VALUE);
    }

    /** How many runs of one step may be under way; 0 for any number. */
    static int inflightLimit(ModelConfig config) {
        int limit = config.getEnsembleScheduling().getMaxInflightRequests();
        return limit < 0 ? Integer.MAX_VALUE : limit; // the configuration counts without a sign
    }

    /** The decoupled step for each of whose responses a tensor is made, or {@link #NONE}. */
    int ofTensor(int tensor) {
        int producer = plan.producer(tensor);
        if (producer == EnsemblePlan.FROM_REQUEST) {
            return NONE;
        }
        return decoupled[producer] ? producer : streams[producer];
    }

    /** The streams that a response of {@code stream} is inside of, the outermost first, itself last. */
    private List<Integer> path(int stream) {
        List<Integer> path = new ArrayList<>();
        for (int outer = stream; outer != NONE; outer = streams[outer]) {
            path.addFirst(outer);
        }
        return path;
    }
}
