// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import picocli.CommandLine.Option;

/** TensorFlow Serving's flags for running and loading TensorFlow. Filled by picocli, read once. */
final class TensorFlowFlags {
    private static final String BACKEND = "tensorflow";
    private static final String USUAL_TAG = "serve";

    @Option(
            names = "--tensorflow_session_parallelism",
            paramLabel = "N",
            defaultValue = "0",
            converter = FlagValues.CountOrAny.class,
            description = "Both of the following at once, 0 for TensorFlow's choice.")
    int session;

    @Option(
            names = "--tensorflow_intra_op_parallelism",
            paramLabel = "N",
            defaultValue = "0",
            converter = FlagValues.CountOrAny.class,
            description = "How many threads one operation may use, 0 for TensorFlow's choice.")
    int intraOp;

    @Option(
            names = "--tensorflow_inter_op_parallelism",
            paramLabel = "N",
            defaultValue = "0",
            converter = FlagValues.CountOrAny.class,
            description = "How many operations may run at a time, 0 for TensorFlow's choice.")
    int interOp;

    @Option(
            names = "--saved_model_tags",
            paramLabel = "TAG[,TAG]",
            defaultValue = USUAL_TAG,
            description = "Which graph of a SavedModel to serve: the one that has exactly these tags.")
    String tags = USUAL_TAG;

    @Option(names = "--num_load_threads", hidden = true, defaultValue = "-1", converter = FlagValues.PollSeconds.class)
    int loadThreads;

    /** The options of the engine that the flags stand for. */
    List<BackendOption> options() {
        List<BackendOption> options = new ArrayList<>();
        if (!tags.equals(USUAL_TAG)) {
            options.add(new BackendOption(BACKEND, "tags", tags));
        }
        add(options, "intra_op_parallelism_threads", intraOp);
        add(options, "inter_op_parallelism_threads", interOp);
        return options;
    }

    private void add(List<BackendOption> options, String name, int own) {
        int threads = own > 0 ? own : session;
        if (threads > 0) {
            options.add(new BackendOption(BACKEND, name, Integer.toString(threads)));
        }
    }

    /** How many models are loaded at a time; 0, which is one after the other, as one thread. */
    OptionalInt loadThreads() {
        return loadThreads < 0 ? OptionalInt.empty() : OptionalInt.of(Math.max(1, loadThreads));
    }
}
