// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.isolation.EngineProcess.Engine;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.testing.Await;
import gatun.wire.inference.ModelConfig;
import gatun.workers.WorkerEnd;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The process of an engine, in a Java virtual machine of its own. */
@Timeout(60)
class EngineProcessTest {
    @TempDir
    Path version;

    @Test
    void shouldEndWithAQuestionWhoseAnswerNobodyAwaits() throws Exception {
        EngineProcess process = EngineProcess.start(
                "silent",
                inherited -> EngineCommand.of(
                        "silent", ProcessSettings.of(ModelConfig.getDefaultInstance()), Optional.empty(), inherited),
                new Engine("silent", Map.of(), 1 << 20, Optional.empty()));
        CompletableFuture<WorkerEnd> end = new CompletableFuture<>();
        process.onEnd(end::complete);
        CompletableFuture<GatunException> failure = new CompletableFuture<>();
        Thread asking = Thread.ofVirtual().start(() -> {
            try {
                process.complete(ModelConfig.getDefaultInstance(), version);
                failure.completeExceptionally(new AssertionError("it was answered"));
            } catch (GatunException e) {
                failure.complete(e);
            }
        });
        Await.until("the engine is asked", () -> Files.exists(version.resolve(SilentBackend.ASKED)));

        asking.interrupt();

        assertThat(failure.get(30, TimeUnit.SECONDS).code()).isEqualTo(ErrorCode.CANCELLED);
        assertThat(end.get(30, TimeUnit.SECONDS).text()).contains("the wait for its answer was interrupted");
        process.close();
    }
}
