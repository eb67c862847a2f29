// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.server.settings.ServerSettings;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command line of Triton's program. */
class TritonServerFlagsTest extends CommandFixture {
    private ServerSettings triton(String... flags) {
        String[] arguments = new String[flags.length + 2];
        arguments[0] = "tritonserver";
        arguments[1] = "--model-store=/mnt/models";
        System.arraycopy(flags, 0, arguments, 2, flags.length);
        assertThat(run(arguments)).as(err.toString()).isEqualTo(SERVED);
        return served.getLast();
    }

    @Test
    void shouldServeAsTheRuntimesOfKServeCallIt() {
        ServerSettings settings =
                triton("--grpc-port=9000", "--http-port=8080", "--allow-grpc=true", "--allow-http=true");

        assertThat(settings.models().sources().repositories()).containsExactly(Path.of("/mnt/models"));
        assertThat(settings.listeners().grpc().bind().port()).isEqualTo(9000);
        assertThat(settings.listeners().http().bind().port()).isEqualTo(8080);
        assertThat(settings.listeners().http().healthBodies()).isFalse();
        assertThat(warnings).isEmpty();
    }

    @Test
    void shouldTellHealthAsJsonWhereThatIsAskedFor() {
        assertThat(triton("--http-health-bodies=true").listeners().http().healthBodies())
                .isTrue();
        assertThat(run("serve", "--model-store=m")).isEqualTo(SERVED);
        assertThat(served.getLast().listeners().http().healthBodies()).isTrue();
    }

    @Test
    void shouldTakeTheSameFlagMoreThanOnceAndValuesInArgumentsOfTheirOwn() {
        ServerSettings settings = triton(
                "--model-repository",
                "/more",
                "--id",
                "a",
                "--id=b",
                "--log-verbose=1",
                "--strict-readiness",
                "false",
                "--backend-config=onnxruntime,intra-op-threads=1",
                "--backend-config",
                "tensorflow,version=2");

        assertThat(settings.models().sources().repositories())
                .containsExactly(Path.of("/mnt/models"), Path.of("/more"));
        assertThat(logs.getLast().verbosity()).isEqualTo(1);
    }

    @Test
    void shouldGiveAnOptionOfAllBackendsToEachThatKnowsIt() {
        String[] each = {
            "serve",
            "--http-health-bodies=false",
            "--model-store=m",
            "--backend-config=onnxruntime,default-max-batch-size=8",
            "--backend-config=tensorflow,default-max-batch-size=8",
            "--log-info=1"
        };
        assertThat(TritonServerArguments.translate(
                        "tritonserver", "--model-store=m", "--backend-config=default-max-batch-size=8", "--log-info=1"))
                .isEqualTo(each);
        assertThat(TritonServerArguments.translate(
                        "tritonserver",
                        "--model-store=m",
                        "--backend-config",
                        "default-max-batch-size=8",
                        "--log-info=1"))
                .isEqualTo(each);
        triton("--backend-config=default-max-batch-size=8");
    }

    /** All flags of the program of June 2026, each with a value that it takes. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "--id=x --exit-timeout-secs=5 --exit-on-error=true --disable-auto-complete-config",
                "--strict-readiness=true --model-control-mode=explicit --load-model=a --load-model=b",
                "--model-control-mode=poll --repository-poll-secs=5",
                "--model-config-name=v2 --model-load-thread-count=2 --model-load-retry-count=1",
                "--model-namespacing=true --enable-peer-access=true",
                "--allow-http=true --http-address=127.0.0.1 --http-port=1 --reuse-http-port=true",
                "--http-header-forward-pattern=x-.* --http-thread-count=8 --http-max-input-size=1048576",
                "--http-restricted-api=shared-memory:key=value",
                "--allow-grpc=true --grpc-address=127.0.0.1 --grpc-port=1 --reuse-grpc-port=1",
                "--grpc-header-forward-pattern=x-.* --grpc-infer-thread-count=4",
                "--grpc-infer-allocation-pool-size=8 --grpc-max-response-pool-size=8",
                "--grpc-use-ssl=false --grpc-use-ssl-mutual=false",
                "--grpc-server-cert=c --grpc-server-key=k --grpc-root-cert=r --grpc-use-ssl=true",
                "--grpc-infer-response-compression-level=low --grpc-keepalive-time=1000",
                "--grpc-keepalive-timeout=1000 --grpc-keepalive-permit-without-calls=true",
                "--grpc-http2-max-pings-without-data=1 --grpc-http2-min-recv-ping-interval-without-data=1000",
                "--grpc-http2-max-ping-strikes=1 --grpc-max-connection-age=1000",
                "--grpc-max-connection-age-grace=1000 --grpc-restricted-protocol=inference:key=value",
                "--log-verbose=1 --log-info=true --log-warning=true --log-error=true --log-format=ISO8601",
                "--allow-sagemaker=false --sagemaker-port=1 --sagemaker-safe-port-range=1-2",
                "--sagemaker-thread-count=4 --allow-vertex-ai=false --vertex-ai-port=1",
                "--vertex-ai-thread-count=4 --vertex-ai-default-model=m",
                "--allow-metrics=true --allow-gpu-metrics=true --allow-cpu-metrics=true",
                "--metrics-address=127.0.0.1 --metrics-port=1 --metrics-interval-ms=1000",
                "--metrics-config=counter_latencies=true --trace-config=level=OFF",
                "--cache-config=local,size=1048576 --cache-directory=/opt/tritonserver/caches",
                "--rate-limit=execution_count --rate-limit-resource=R1:10",
                "--pinned-memory-pool-byte-size=1048576 --cuda-memory-pool-byte-size=0:1048576",
                "--cuda-virtual-address-size=0:1048576 --min-supported-compute-capability=6.0",
                "--buffer-manager-thread-count=0 --host-policy=numa_0,numa-node=0",
                "--model-load-gpu-limit=0:0.9 --allow-client-shm=true",
                "--backend-directory=/opt/tritonserver/backends --backend-config=default-max-batch-size=4",
                "--repoagent-directory=/opt/tritonserver/repoagents --strict-model-config=false",
                "--response-cache-byte-size=1048576 --trace-file=t --trace-level=OFF --trace-rate=1",
                "--trace-count=1 --trace-log-frequency=1"
            })
    void shouldTakeAllFlags(String flags) {
        triton(flags.split(" "));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "0", "1", "129", "many"})
    void shouldRefuseNumbersOfThreadsThatTritonRefuses(String count) {
        assertThat(run("tritonserver", "--model-store=m", "--grpc-infer-thread-count=" + count))
                .isEqualTo(2);
        assertThat(err.toString())
                .contains("--grpc-infer-thread-count is '" + count + "': expected a number from 2 to 128");
        assertThat(served).isEmpty();
    }

    @Test
    void shouldTellItsVersionAndItsFlags() {
        assertThat(run("tritonserver", "--version")).isZero();
        assertThat(out.toString().lines()).containsExactly("Triton Inference Server: gatun 1.2.3");
        out.getBuffer().setLength(0);
        assertThat(run("tritonserver", "--help")).isZero();
        assertThat(out.toString()).contains("--model-repository", "--exit-timeout-secs");
        assertThat(served).isEmpty();
    }

    @Test
    void shouldRefuseFlagsThatNeitherKnows() {
        assertThat(run("tritonserver", "--model-store=m", "--http-prot=1")).isEqualTo(2);
        assertThat(err.toString()).contains("unknown flag --http-prot. Did you mean --http-port?");
        assertThat(run("tritonserver")).isEqualTo(2);
        assertThat(err.toString()).contains("missing PATH, or --model-repository=DIR");
        assertThat(List.of(TritonServerArguments.translate("serve", "tritonserver")))
                .containsExactly("serve", "tritonserver");
    }
}
