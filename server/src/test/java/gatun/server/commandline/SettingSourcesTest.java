// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.cloud.vertexai.VertexAiProtocolProvider;
import gatun.cloud.vertexai.VertexAiSettings;
import gatun.server.settings.ListenerSettings;
import gatun.tensorflow.serving.protocol.TensorFlowProtocolProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Flags from environment variables and from a configuration file. */
class SettingSourcesTest extends CommandFixture {
    @TempDir
    Path folder;

    private String config(String yaml) throws IOException {
        return "--config=" + Files.writeString(folder.resolve("gatun.yaml"), yaml);
    }

    @Test
    void shouldRefuseAProfileThatNoLauncherHasSeen() throws IOException {
        assertThat(refuse("--profile=balanced"))
                .contains("--profile is 'balanced', but the JVM was not started by Gatun's launcher");
        assertThat(refuse(config("profile: small\n"))).contains("--profile is 'small', but the JVM was not started");
        environment.put("GATUN_PROFILE", "tiny");
        assertThat(refuse()).contains("GATUN_PROFILE: 'tiny' is not a profile: balanced or small.");
    }

    @Test
    void shouldTakeFlagsFromTheEnvironment() {
        environment.put("GATUN_MODEL_REPOSITORY", "a\nb");
        environment.put("GATUN_HTTP_PORT", "9000");
        environment.put("GATUN_REST_API_PORT", "8501");

        assertThat(run("serve")).as(err.toString()).isEqualTo(SERVED);

        assertThat(served.getLast().listeners().http().bind().port()).isEqualTo(9000);
        assertThat(port(TensorFlowProtocolProvider.class)).isEqualTo(8501);
        assertThat(served.getLast().models().sources().repositories()).containsExactly(Path.of("a"), Path.of("b"));
    }

    @Test
    void shouldTakeFlagsFromAFile() throws IOException {
        String config = config("""
                model-repository:
                  - one
                  - two
                http:
                  port: 9000
                  cors-allow-origin: https://a.example
                grpc-port: 9001
                log:
                  verbose: 1
                rest_api_port: 8501
                """);

        assertThat(run("serve", config)).as(err.toString()).isEqualTo(SERVED);

        assertThat(served.getLast().models().sources().repositories()).containsExactly(Path.of("one"), Path.of("two"));
        assertThat(served.getLast().listeners().http().bind().port()).isEqualTo(9000);
        assertThat(served.getLast().listeners().http().allowedOrigins()).isEqualTo(Set.of("https://a.example"));
        assertThat(served.getLast().listeners().grpc().bind().port()).isEqualTo(9001);
        assertThat(port(TensorFlowProtocolProvider.class)).isEqualTo(8501);
        assertThat(logs.getLast().verbosity()).isEqualTo(1);
    }

    @Test
    void shouldPreferTheCommandLineToTheEnvironmentAndThatToTheFile() throws IOException {
        environment.put("GATUN_HTTP_PORT", "2");
        environment.put("GATUN_GRPC_PORT", "2");
        environment.put("GATUN_MODEL_REPOSITORY", "two");
        String config = config("http-port: 3\ngrpc-port: 3\nmetrics-port: 3\nmodel-repository: [three, four]\n");

        assertThat(run("serve", config, "--http-port=1")).as(err.toString()).isEqualTo(SERVED);

        assertThat(served.getLast().listeners().http().bind().port()).isEqualTo(1);
        assertThat(served.getLast().listeners().grpc().bind().port()).isEqualTo(2);
        assertThat(served.getLast().listeners().metrics().port()).isEqualTo(3);
        assertThat(served.getLast().models().sources().repositories()).containsExactly(Path.of("two"));
    }

    @Test
    void shouldTakeTheVariablesOfVertexAiWhereNothingElseSetsTheFlags() throws IOException {
        environment.put("AIP_MODE", "PREDICTION");
        environment.put("AIP_HTTP_PORT", "5234");
        environment.put("AIP_PREDICT_ROUTE", "/predict");
        environment.put("AIP_HEALTH_ROUTE", "/health");
        environment.put("AIP_STORAGE_URI", "models");
        environment.put("GATUN_ALLOW_GRPC", "true");

        assertThat(run("serve", config("vertex-ai-health-route: /alive\n")))
                .as(err.toString())
                .isEqualTo(SERVED);

        ListenerSettings listeners = served.getLast().listeners();
        assertThat(listeners.http().bind().enabled()).isFalse();
        assertThat(listeners.grpc().bind().enabled()).isTrue();
        assertThat(port(VertexAiProtocolProvider.class)).isEqualTo(5234);
        assertThat(protocol(VertexAiProtocolProvider.class).settings())
                .isEqualTo(new VertexAiSettings("/predict", "/alive", ""));
        assertThat(served.getLast().clients().hosts()).containsExactly("*");
        assertThat(served.getLast().models().sources().repositories()).containsExactly(Path.of("models"));

        assertThat(run("serve", "--model-repository=own", "--allow-http"))
                .as(err.toString())
                .isEqualTo(SERVED);
        assertThat(served.getLast().listeners().http().bind().enabled()).isTrue();
        assertThat(served.getLast().models().sources().repositories()).containsExactly(Path.of("own"));
    }

    @Test
    void shouldTakeTheFileThatTheEnvironmentNames() throws IOException {
        environment.put("GATUN_CONFIG", config("http-port: 9000").substring("--config=".length()));

        assertThat(serve().listeners().http().bind().port()).isEqualTo(9000);
    }

    @Test
    void shouldTakeAnEmptyFile() throws IOException {
        assertThat(serve(config("# nothing yet\n")).listeners().http().bind().port())
                .isEqualTo(8000);
    }

    @Test
    void shouldPassOverWhatKubernetesSaysOfAServiceOfThatName() {
        environment.put("GATUN_PORT", "tcp://10.0.0.7:8000");
        environment.put("GATUN_SERVICE_HOST", "10.0.0.7");

        serve();
        assertThat(port(TensorFlowProtocolProvider.class)).isZero();
    }

    @Test
    void shouldNameTheVariableOfAWrongValue() {
        environment.put("GATUN_HTTP_PORT", "many");

        assertThat(refuse()).startsWith("gatun: GATUN_HTTP_PORT: 'many' is not a port");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            'http:\n  port: many'        | 2:3: http-port: 'many' is not a port
            'http-prt: 1'                 | 1:1: there is no setting 'http-prt'. Did you mean http-port?
            'http:\n  tls-certificate: a' | 2:3: there is no setting 'http-tls-certificate'. Did you mean http-root-cert or http-server-cert?
            'http:\n  prt: 1'            | 2:3: there is no setting 'http-prt'.
            'http-port: [1, 2]'           | 1:12: 'http-port' takes one value and not a list
            'http-port:'                  | 1:11: 'http-port' needs a value
            '- http-port'                 | 1:1: expected keys and values
            'http-port: 1\nhttp-port: ]' | 2:12:
            """)
    void shouldSayWhereAFileIsWrong(String yaml, String expected) throws IOException {
        String problem = refuse(config(yaml.replace("\\n", "\n")));

        assertThat(problem).startsWith("gatun: " + folder.resolve("gatun.yaml") + ":" + expected);
    }

    @Test
    void shouldNameAFileThatIsNotThere() {
        assertThat(refuse("--config=" + folder.resolve("none.yaml")))
                .startsWith("gatun: the configuration file " + folder.resolve("none.yaml") + " cannot be read: ");
    }
}
