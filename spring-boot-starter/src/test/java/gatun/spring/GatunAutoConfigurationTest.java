// SPDX-License-Identifier: Apache-2.0
package gatun.spring;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.client.ArrayTensors;
import gatun.client.GatunClient;
import gatun.client.InferResponse;
import gatun.embedded.Gatun;
import gatun.testing.Await;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What an application gets for its properties, in contexts like its own. */
class GatunAutoConfigurationTest {
    private static final String CONFIG = """
            name: "echo"
            backend: "identity"
            max_batch_size: 8
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] } ]
            """;

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(GatunAutoConfiguration.class, GatunActuatorAutoConfiguration.class));

    @TempDir
    Path folder;

    @Test
    void shouldDoNothingWithoutProperties() {
        application.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(GatunClient.class));
    }

    @Test
    void shouldServeModelsInTheApplication() throws IOException {
        application.withPropertyValues("gatun.model-repository=" + repository()).run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(Gatun.class);
            assertThat(echo(context.getBean(GatunClient.class))).containsExactly(1.5f, -2);
            Health health = context.getBean(GatunHealthIndicator.class).health();
            assertThat(health.getStatus().getCode()).isEqualTo("UP");
            assertThat(health.getDetails()).doesNotContainKey("models");
            assertThat(health.getDetails().get("server")).asString().startsWith("gatun ");
        });
    }

    @Test
    void shouldServeWhereTheStartingThreadKnowsNoClassesOfTheApplication() throws Exception {
        Path repository = repository();
        Thread thread = Thread.ofPlatform().unstarted(() -> {
            try (Gatun gatun = Gatun.embedded(repository)) {
                assertThat(echo(gatun.client())).hasSize(2);
            }
        });
        thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
        Throwable[] failure = new Throwable[1];
        thread.setUncaughtExceptionHandler((ended, reason) -> failure[0] = reason);
        thread.start();
        thread.join();
        assertThat(failure[0]).isNull();
    }

    @Test
    void shouldServeTheResourcesOfTheApplication() {
        application
                .withPropertyValues("gatun.model-repository=classpath:/models")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    Path copy = context.getBean(RepositoryFolder.class).path();
                    assertThat(copy.resolve("echo/config.pbtxt")).exists();
                    assertThat(echo(context.getBean(GatunClient.class))).containsExactly(1.5f, -2);
                    context.close();
                    assertThat(copy).doesNotExist();
                });
    }

    @Test
    void shouldSayWhatIsWrongWithTheModels() throws IOException {
        Files.writeString(repository().resolve("echo/config.pbtxt"), CONFIG.replace("identity", "identiti"));
        application.withPropertyValues("gatun.model-repository=" + folder).run(context -> assertThat(context)
                .getFailure()
                .rootCause()
                .hasMessageContaining("model 'echo'")
                .hasMessageContaining("identiti"));
        application
                .withPropertyValues("gatun.model-repository=classpath:/nothing")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("gatun.model-repository=classpath:/nothing"));
        application
                .withPropertyValues("gatun.model-repository=" + folder, "gatun.url=http://localhost:1")
                .run(context ->
                        assertThat(context).getFailure().rootCause().hasMessageContaining("expected one of the two"));
        application
                .withPropertyValues("gatun.model-repository=" + folder, "gatun.flags=--http-prot=1")
                .run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining("--http-port"));
    }

    @Test
    @SuppressWarnings("try") // that the server goes is what is tested
    void shouldAskAServerElsewhereAndTellWhenItIsAway() throws IOException {
        try (Gatun gatun = Gatun.embedded(
                repository(),
                "--allow-http=true",
                "--http-address=127.0.0.1",
                "--http-port=0",
                "--model-control-mode=explicit",
                "--load-model=echo")) {
            application
                    .withClassLoader(new FilteredClassLoader(Gatun.class))
                    .withPropertyValues(
                            "gatun.url=" + gatun.addresses().getFirst(),
                            "gatun.token=anything",
                            "gatun.headers.x-team=search",
                            "gatun.deadline=20s")
                    .run(context -> {
                        GatunClient client = context.getBean(GatunClient.class);
                        assertThat(echo(client)).containsExactly(1.5f, -2);
                        GatunHealthIndicator indicator = context.getBean(GatunHealthIndicator.class);
                        client.models().unload("echo");
                        assertThat(indicator.health().getDetails().get("models"))
                                .asString()
                                .contains("echo");
                        gatun.close();
                        assertThat(indicator.health().getStatus().getCode()).isEqualTo("DOWN");
                    });
        }
        try (ServerSocket nobody = new ServerSocket()) {
            nobody.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
            application
                    .withPropertyValues("gatun.url=http://127.0.0.1:" + nobody.getLocalPort(), "gatun.deadline=1ms")
                    .run(context -> assertThat(context.getBean(GatunHealthIndicator.class)
                                    .health()
                                    .getStatus()
                                    .getCode())
                            .isEqualTo("DOWN"));
        }
    }

    @Test
    void shouldMeterModelsAndForgetThoseThatGo() throws IOException {
        repository();
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (Gatun gatun = Gatun.embedded(folder, "--model-control-mode=explicit", "--load-model=echo");
                ModelMeters meters = new ModelMeters(gatun.client(), Duration.ofMillis(20))) {
            meters.bindTo(registry);
            echo(gatun.client());
            echo(gatun.client());
            Await.until("both requests are counted", () -> {
                FunctionTimer timer = registry.find("gatun.requests")
                        .tags("model", "echo", "version", "1", "outcome", "success")
                        .functionTimer();
                return timer != null && timer.count() == 2;
            });
            assertThat(registry.get("gatun.inferences").functionCounter().count())
                    .isEqualTo(2);
            gatun.client().models().unload("echo");
            Await.until(
                    "its meters are gone",
                    () -> registry.find("gatun.requests").functionTimers().isEmpty());
        }
    }

    private Path repository() throws IOException {
        Files.createDirectories(folder.resolve("echo/1"));
        Files.writeString(folder.resolve("echo/config.pbtxt"), CONFIG);
        return folder;
    }

    private static float[] echo(GatunClient client) {
        try (InferResponse response = client.infer("echo", ArrayTensors.of("IN", new float[] {1.5f, -2}, 1, 2))) {
            return response.floats("OUT");
        }
    }
}
