// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.listener.TlsFiles;
import gatun.runtime.ControlMode;
import gatun.server.settings.ModelListSettings;
import gatun.server.settings.ServedModelSettings;
import gatun.server.settings.ServerSettings;
import gatun.tensorflow.serving.protocol.TensorFlowProtocolProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The flags of TensorFlow Serving's program. */
class TensorFlowServingFlagsTest extends CommandFixture {
    @Test
    void shouldReadWhichModelsAreServedAsTensorFlowServingIsTold() {
        served.clear();
        ServedModelSettings one = serveOnly("--model_name=m", "--model_base_path=/models/m");
        assertThat(one.sources().repositories()).isEmpty();
        assertThat(one.sources().list())
                .contains(new ModelListSettings(
                        new ModelListSettings.Names.One("m", Path.of("/models/m")), Duration.ZERO));
        assertThat(one.control().mode()).isEqualTo(ControlMode.POLL);
        assertThat(one.control().pollInterval()).isEqualTo(Duration.ofSeconds(1));
        ServedModelSettings listed = serveOnly(
                "--model_config_file=models.config",
                "--model_config_file_poll_wait_seconds=7",
                "--file_system_poll_wait_seconds=0");
        assertThat(listed.sources().list())
                .contains(new ModelListSettings(
                        new ModelListSettings.Names.File(Path.of("models.config")), Duration.ofSeconds(7)));
        assertThat(listed.control().mode()).isEqualTo(ControlMode.NONE);
        assertThat(serveOnly("--model_config_file=a", "--model_base_path=b")
                        .sources()
                        .list())
                .contains(new ModelListSettings(new ModelListSettings.Names.File(Path.of("a")), Duration.ZERO));
        assertThat(serveOnly("--model_config_file=a", "--reload-base-path=/b", "--reload-base-path=/c")
                        .sources()
                        .list())
                .contains(new ModelListSettings(
                        new ModelListSettings.Names.File(Path.of("a")),
                        Duration.ZERO,
                        List.of(Path.of("/b"), Path.of("/c"))));
        served.clear();
        assertThat(refuse("--reload-base-path=/b")).contains("--model_config_file");
        assertThat(refuse("--model_config_file=a", "--model-control-mode=explicit"))
                .contains("Give one or the other");
    }

    @Test
    void shouldListenWhereTensorFlowServingDoesWhenItIsCalledSo() {
        String[] translated = ModelServerArguments.translate(
                new String[] {"tensorflow_model_server", "--model_base_path=/models/m", "--port=9000"});
        assertThat(run(translated)).as(err.toString()).isEqualTo(SERVED);
        ServerSettings settings = served.getLast();
        assertThat(settings.listeners().grpc().bind().enabled()).isFalse();
        assertThat(port(TensorFlowProtocolProvider.class)).isEqualTo(9000);
        assertThat(settings.listeners().http().bind().enabled()).isFalse();
        assertThat(settings.listeners().metrics().enabled()).isFalse();
        assertThat(settings.models().loading().retries()).isEqualTo(5);
        assertThat(settings.models().loading().retryInterval()).isEqualTo(Duration.ofMinutes(1));
        assertThat(ModelServerArguments.askVersion("tensorflow_model_server", "--port=1", "--version"))
                .isTrue();
        assertThat(ModelServerArguments.askVersion("serve", "--version")).isFalse();
        String[] others = {"serve", "--model-repository=models"};
        assertThat(ModelServerArguments.translate(others)).isEqualTo(others);
    }

    @Test
    void shouldReadHowTensorFlowServingJoinsRequests(@TempDir Path folder) throws Exception {
        serve();
        assertThat(protocol(TensorFlowProtocolProvider.class).batching()).isEmpty();
        Files.writeString(folder.resolve("m.txt"), "max_batch_size { value: 7 }");
        serve("--enable_batching", "--batching_parameters_file=" + folder.resolve("m.txt"));
        assertThat(protocol(TensorFlowProtocolProvider.class)
                        .batching()
                        .orElseThrow()
                        .of(folder)
                        .orElseThrow()
                        .maxBatchSize())
                .isEqualTo(7);
        serve("--enable_batching=true", "--enable_per_model_batching_parameters");
        assertThat(protocol(TensorFlowProtocolProvider.class)
                        .batching()
                        .orElseThrow()
                        .of(folder))
                .as("a version without parameters of its own")
                .isEmpty();
        served.clear();
        assertThat(refuse("--batching_parameters_file=b"))
                .contains("--batching_parameters_file is set without setting --enable_batching to true.");
        assertThat(refuse("--enable_batching=false", "--enable_per_model_batching_parameters=true"))
                .contains("--enable_per_model_batching_parameters is set without setting --enable_batching to true.");
    }

    @Test
    void shouldReadHowTensorFlowServingLoadsAndRunsModels() {
        ServedModelSettings models = serve(
                        "--num_load_threads=0",
                        "--max_num_load_retries=3",
                        "--load_retry_interval_micros=1500",
                        "--tensorflow_session_parallelism=4",
                        "--tensorflow_inter_op_parallelism=2",
                        "--tensorflow_session_config_file=/c",
                        "--saved_model_tags=serve")
                .models();
        assertThat(models.loading().threads()).isEqualTo(1);
        assertThat(models.loading().retries()).isEqualTo(3);
        assertThat(models.loading().retryInterval()).isEqualTo(Duration.ofNanos(1_500_000));
        assertThat(models.backends().options())
                .isEqualTo(Map.of(
                        "tensorflow",
                        Map.of(
                                "intra_op_parallelism_threads",
                                "4",
                                "inter_op_parallelism_threads",
                                "2",
                                "session-config-file",
                                "/c")));
        assertThat(serve("--load_retry_interval_micros=-1").models().loading().retryInterval())
                .isEqualTo(Duration.ZERO);
        assertThat(serve("--saved_model_tags=serve,gpu").models().backends().options())
                .isEqualTo(Map.of("tensorflow", Map.of("tags", "serve,gpu")));
    }

    @Test
    void shouldReadHowTensorFlowServingIsProtected(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("ssl.txt");
        Files.writeString(file, "server_key: 'k' server_cert: 'c' custom_ca: 'a'");
        TlsFiles tls = serve("--ssl_config_file=" + file)
                .listeners()
                .grpc()
                .bind()
                .tls()
                .orElseThrow();
        assertThat(tls.clientRoots()).isEmpty();
        assertThat(tls.certificate().reader().read(file)).isEqualTo("c");
        assertThat(tls.privateKey().reader().read(file)).isEqualTo("k");
        Files.writeString(file, "server_key: 'k' server_cert: 'c' custom_ca: 'a' client_verify: true");
        tls = serve("--ssl_config_file=" + file).listeners().grpc().bind().tls().orElseThrow();
        assertThat(tls.clientRoots().orElseThrow().reader().read(file)).isEqualTo("a");
        served.clear();
        assertThat(refuse("--ssl_config_file=" + file, "--grpc-use-ssl=true"))
                .contains("--ssl_config_file and --grpc-use-ssl both say how gRPC is protected");
        Files.writeString(file, "server_key: 'k' server_cert: 'c' client_verify: true");
        assertThat(refuse("--ssl_config_file=" + file)).contains("client_verify is true and there is no custom_ca");
        Files.writeString(file, "server_key 7");
        assertThat(refuse("--ssl_config_file=" + file))
                .contains("Error parsing text-format tensorflow.serving.SSLConfig: 1:12");
        assertThat(refuse("--ssl_config_file=/no/such/file")).contains("cannot read /no/such/file");
    }

    @Test
    void shouldTakeTheArgumentsOfGrpcsChannels() {
        String[] translated = ModelServerArguments.translate(
                "serve",
                "--model-repository=models",
                "--grpc_channel_arguments=grpc.max_connection_age_ms=2000,grpc.so_reuseport=0,grpc.keepalive_time_ms=7");
        assertThat(run(translated)).as(err.toString()).isEqualTo(SERVED);
        KeepaliveSettings keepalive = served.getLast().listeners().grpc().keepalive();
        assertThat(keepalive.age().most()).contains(Duration.ofSeconds(2));
        assertThat(keepalive.pings().time()).isEqualTo(Duration.ofMillis(7));
        assertThat(warnings)
                .containsExactly("--grpc_channel_arguments is a flag of TensorFlow Serving that has no effect in Gatun:"
                        + " only the arguments that have a flag of Gatun's own are known: those of keepalive, pings"
                        + " and a"
                        + " connection's age");
        assertThat(translated).contains("--grpc_channel_arguments=grpc.so_reuseport=0");
    }

    @Test
    void shouldKnowEveryFlagOfTensorFlowServings() {
        served.clear();
        String[] flags = """
                --port=0 --grpc_socket_path=/s --rest_api_port=0 --rest_api_num_threads=1 --rest_api_timeout_in_ms=1
                --rest_api_enable_cors_support=true --enable_batching=true
                --allow_version_labels_for_unavailable_models=false --batching_parameters_file=b
                --enable_per_model_batching_parameters=false --model_config_file_poll_wait_seconds=0 --model_name=m
                --model_base_path=/m --num_load_threads=1 --num_unload_threads=1 --max_num_load_retries=5
                --load_retry_interval_micros=60000000 --file_system_poll_wait_seconds=1 --flush_filesystem_caches=true
                --tensorflow_session_parallelism=1 --tensorflow_session_config_file=c
                --tensorflow_intra_op_parallelism=1 --tensorflow_inter_op_parallelism=1 --use_alts_credentials=false
                --platform_config_file= --per_process_gpu_memory_fraction=0.5 --saved_model_tags=serve
                --grpc_channel_arguments= --grpc_max_threads=1 --enable_model_warmup=true
                --num_request_iterations_for_warmup=1 --remove_unused_fields_from_bundle_metagraph=true
                --prefer_tflite_model=false --num_tflite_pools=1 --num_tflite_interpreters_per_pool=1
                --enable_signature_method_name_check=false --xla_cpu_compilation_enabled=false
                --xla_gpu_compilation_enabled=false --enable_profiler=true --thread_pool_factory_config_file=t
                --mixed_precision=bfloat16 --skip_initialize_tpu=false --enable_grpc_healthcheck_service=true
                --enable_serialization_as_tensor_content=true
                """.split("\\s+");
        String[] arguments = Stream.concat(Stream.of("tensorflow_model_server"), Arrays.stream(flags))
                .toArray(String[]::new);
        assertThat(run(ModelServerArguments.translate(arguments)))
                .as(err.toString())
                .isEqualTo(SERVED);
        served.clear();
        assertThat(refuse("--use_alts_credentials")).contains("lie open");
    }
}
