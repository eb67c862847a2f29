// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How TensorFlow runs and is loaded, as TensorFlow Serving is told. Read once. */
final class TensorFlowFlags extends FlagGroup {
    private static final String USUAL_TAG = "serve";

    private final Flag<Integer> session = threads("session", "Both of the following at once");
    private final Flag<Integer> intraOp = threads("intra_op", "How many threads one operation may use");
    private final Flag<Integer> interOp = threads("inter_op", "How many operations may run at a time");
    private final Flag<String> tags = flag(
            "--saved_model_tags",
            FlagType.TEXT.labelled("TAG[,TAG]"),
            USUAL_TAG,
            "Which graph of a SavedModel to serve: the one that has exactly these tags.");
    private final Flag<Optional<Path>> sessionFile = optional(
            "--tensorflow_session_config_file",
            FlagType.PATH,
            "How TensorFlow runs sessions: a ConfigProto in protobuf's text format.");
    private final Flag<Optional<Integer>> loadThreads = hidden(
            "--num_load_threads", FlagType.whole("N", Integer.MIN_VALUE, Integer.MAX_VALUE, "a number of seconds"));

    private Flag<Integer> threads(String of, String description) {
        return flag(
                "--tensorflow_" + of + "_parallelism",
                FlagType.COUNT_OR_ANY,
                0,
                description + ", 0 for TensorFlow's choice.");
    }

    List<NamedOption> options() {
        List<NamedOption> options = new ArrayList<>();
        if (!tags.value().equals(USUAL_TAG)) {
            options.addAll(NamedOption.ofEnginesWith("tags", tags.value()));
        }
        sessionFile
                .value()
                .ifPresent(file -> options.addAll(NamedOption.ofEnginesWith(
                        "session-config-file", file.toAbsolutePath().toString())));
        add(options, "intra_op_parallelism_threads", intraOp);
        add(options, "inter_op_parallelism_threads", interOp);
        return options;
    }

    private void add(List<NamedOption> options, String name, Flag<Integer> own) {
        int threads = own.value() > 0 ? own.value() : session.value();
        if (threads > 0) {
            options.addAll(NamedOption.ofEnginesWith(name, Integer.toString(threads)));
        }
    }

    /** How many models are loaded at a time; 0, which is one after the other, as one thread. */
    Optional<Integer> loadThreads() {
        return loadThreads.value().filter(count -> count >= 0).map(count -> Math.max(1, count));
    }
}
