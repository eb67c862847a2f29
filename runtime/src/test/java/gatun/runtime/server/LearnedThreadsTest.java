// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion.RunCounts;
import gatun.spi.Tuning.Subject;
import gatun.testing.Await;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** On which threads a model's runs are, as the operator lets the server learn it. */
@Timeout(60)
class LearnedThreadsTest {
    private static final String CONFIG = """
            backend: "scripted"
            input { name: "IN" data_type: TYPE_FP32 dims: [1] }
            output { name: "OUT" data_type: TYPE_FP32 dims: [1] }
            """;

    /** More than are asked for before runs are known to be short. */
    private static final int MANY = 100;

    @TempDir
    private Path repository;

    private TestServer open(Set<Subject> learned) {
        TestServer test = new TestServer(repository).model("m", CONFIG);
        return test.open(ScriptedBackend::copy, options -> {
            test.backend.boundToThread = false;
            return options.models(ChangedSettings.learned(learned));
        });
    }

    private static RunCounts run(TestServer test) {
        InferenceRequest request = test.request("m");
        test.input(request, "IN", 1);
        test.server().infer(request).close();
        return test.server().model("m", "").runCounts();
    }

    @Test
    void shouldRunShortRequestsOnTheirOwnThreadsWhereThatIsLearned() {
        try (TestServer test = open(Set.of(Subject.THREADS))) {
            Await.until("a run on this thread", () -> run(test).onRequestThreads() > 0);
        }
    }

    @Test
    void shouldRunAllOnTheThreadsOfInstancesWhereItIsNot() {
        try (TestServer test = open(Set.of())) {
            for (int i = 1; i <= MANY; i++) {
                assertThat(run(test)).isEqualTo(new RunCounts(0, i));
            }
        }
    }
}
