// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.grpc.ResponseCompression;
import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.http.HttpTimeouts;
import gatun.listener.PemFile;
import gatun.listener.TlsFiles;
import gatun.protocol.ClientRegions;
import gatun.runtime.ControlMode;
import gatun.runtime.ResourceAmount;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.logging.LogSettings;
import gatun.runtime.logging.LogSettings.LogFormat;
import gatun.runtime.metrics.ShownMetrics;
import gatun.server.settings.ListenerSettings.BindSettings;
import gatun.server.settings.ListenerSettings.GrpcSettings;
import gatun.server.settings.ListenerSettings.HttpSettings;
import gatun.server.settings.ListenerSettings.MetricsSettings;
import gatun.server.settings.LoggingSettings.AccessLogSettings;
import gatun.server.settings.LoggingSettings.LogRotation;
import gatun.server.settings.ServedModelSettings;
import gatun.server.settings.ServerSettings;
import gatun.server.settings.ServerSettings.MemorySettings;
import gatun.server.settings.ServerSettings.ResponseCacheSettings;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.protocol.TensorFlowProtocolProvider;
import gatun.v2.protocol.V2ProtocolProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GatunCommandTest extends CommandFixture {
    @Test
    void shouldServeWithTheDefaultsOfTriton() {
        ServerSettings settings = serve();
        assertThat(settings.id()).isEqualTo("triton");
        assertThat(settings.lifecycle().exitTimeout()).isEqualTo(Duration.ofSeconds(30));
        assertThat(settings.lifecycle().readyFile()).isEmpty();
        assertThat(settings.listeners().http())
                .isEqualTo(new HttpSettings(
                        new BindSettings(true, "0.0.0.0", 8000, Optional.empty(), Optional.empty()),
                        64L * 1024 * 1024,
                        HttpTimeouts.STANDARD,
                        Set.of(),
                        true));
        assertThat(protocol(TensorFlowProtocolProvider.class).settings()).isEqualTo(TensorFlowSettings.STANDARD);
        assertThat(port(TensorFlowProtocolProvider.class)).isZero();
        serve("--rest_api_port=8501", "--rest_api_enable_cors_support", "--rest_api_timeout_in_ms=7");
        assertThat(port(TensorFlowProtocolProvider.class)).isEqualTo(8501);
        assertThat(protocol(TensorFlowProtocolProvider.class).settings())
                .isEqualTo(new TensorFlowSettings(
                        true, Duration.ofMillis(7), false, false, false, true, Optional.empty()));
        assertThat(serve("--http-idle-timeout-secs=9", "--http-min-body-rate=0")
                        .listeners()
                        .http()
                        .timeouts())
                .isEqualTo(new HttpTimeouts(Duration.ofSeconds(9), 0));
        assertThat(settings.listeners().grpc())
                .isEqualTo(new GrpcSettings(
                        new BindSettings(true, "0.0.0.0", 8001, Optional.empty(), Optional.empty()),
                        KeepaliveSettings.standard()));
        assertThat(settings.listeners().metrics())
                .isEqualTo(new MetricsSettings(true, Optional.empty(), 8002, ShownMetrics.STANDARD, true));
        assertThat(settings.memory())
                .isEqualTo(new MemorySettings(
                        MemorySettings.STANDARD.bufferPoolByteSize(),
                        256L * 1024 * 1024,
                        ClientRegions.Rules.STANDARD,
                        false,
                        Optional.empty(),
                        List.of()));
        assertThat(settings.models().sources().repositories()).containsExactly(Path.of("models"));
        assertThat(settings.models().control().mode()).isEqualTo(ControlMode.NONE);
        assertThat(settings.models().control().exitOnError()).isTrue();
        assertThat(settings.models().runs().rateLimit()).isEmpty();
        assertThat(settings.models().control().strictReadiness()).isTrue();
        assertThat(settings.models().loading().autoComplete()).isTrue();
        assertThat(settings.models().loading().threads()).isEqualTo(4);
        assertThat(settings.models().loading().retries()).isZero();
        assertThat(settings.models().warmUpIterations()).isEqualTo(1);
        assertThat(settings.models().backends().options()).isEmpty();
        assertThat(logs.getLast()).isEqualTo(LogSettings.standard());
        assertThat(warnings).isEmpty();
    }

    @Test
    void shouldSendWarmUpRequestsAsOftenAsTold() {
        assertThat(serve("--num_request_iterations_for_warmup=3").models().warmUpIterations())
                .isEqualTo(3);
        assertThat(serve("--num_request_iterations_for_warmup=3", "--enable_model_warmup=false")
                        .models()
                        .warmUpIterations())
                .isZero();
    }

    @Test
    void shouldLoadModelsOnDemandWhereTheirMemoryIsLimited() {
        assertThat(serve().models().loading().memoryByteSize()).isEmpty();
        assertThat(serve("--model-memory-limit=1000").models().loading().memoryByteSize())
                .hasValue(1000);
        served.clear();
        assertThat(refuse("--model-memory-limit=0")).contains("'0' is not a number of bytes from 1 up");
    }

    @Test
    void shouldTakeSeveralRepositoriesUnderEitherName() {
        assertThat(serve("--model-store=b", "--model-repository", "c")
                        .models()
                        .sources()
                        .repositories())
                .containsExactly(Path.of("models"), Path.of("b"), Path.of("c"));
    }

    @Test
    void shouldFollowTheRepositoryWhereThatIsAskedFor() {
        assertThat(serve("--model-control-mode=none").models().control().pollInterval())
                .isEqualTo(Duration.ofSeconds(15));
        ServedModelSettings models = serve(
                        "--model-control-mode=poll", "--repository-poll-secs=3", "--model-config-name=small")
                .models();
        assertThat(models.control().mode()).isEqualTo(ControlMode.POLL);
        assertThat(models.control().pollInterval()).isEqualTo(Duration.ofSeconds(3));
        assertThat(models.loading().configName()).isEqualTo("small");
    }

    @Test
    void shouldCollectBackendOptionsByBackend() {
        ServerSettings settings = serve(
                "--backend-config=onnxruntime,library=/lib/a=b.so",
                "--backend-config",
                "onnxruntime,x=1",
                "--backend-config=identity,y=2");
        assertThat(settings.models().backends().options())
                .isEqualTo(Map.of(
                        "onnxruntime", Map.of("library", "/lib/a=b.so", "x", "1"), "identity", Map.of("y", "2")));
    }

    @Test
    void shouldReadValuesBehindEqualsAndBehindBlanks() {
        ServerSettings settings = serve(
                "--http-port",
                "0",
                "--grpc-port=9",
                "--allow-metrics",
                "false",
                "--http-unix-socket",
                "/run/g",
                "--exit-timeout-secs=1",
                "--id",
                "mine",
                "--ready-file=r");
        assertThat(settings.listeners().http().bind().port()).isZero();
        assertThat(settings.listeners().http().bind().unixSocket()).contains(Path.of("/run/g"));
        assertThat(settings.listeners().grpc().bind().port()).isEqualTo(9);
        assertThat(settings.listeners().metrics().enabled()).isFalse();
        assertThat(settings.lifecycle().exitTimeout()).isEqualTo(Duration.ofSeconds(1));
        assertThat(settings.id()).isEqualTo("mine");
        assertThat(settings.lifecycle().readyFile()).contains(Path.of("r"));
    }

    @Test
    void shouldTakeAFlagWithoutValueAsTrue() {
        ServerSettings settings = serve("--allow-client-shm", "--disable-auto-complete-config", "--log-verbose");
        assertThat(settings.memory().clientMemory().registration()).isTrue();
        assertThat(settings.models().loading().autoComplete()).isFalse();
        assertThat(logs.getLast().verbosity()).isEqualTo(1);
    }

    @Test
    void shouldLetTheLastOfSeveralValuesCount() {
        assertThat(serve("--http-port=1", "--http-port=2")
                        .listeners()
                        .http()
                        .bind()
                        .port())
                .isEqualTo(2);
    }

    @Test
    void shouldListenForMetricsWhereHttpListensUnlessToldOtherwise() {
        assertThat(serve("--http-address=127.0.0.1").listeners().metrics().address())
                .isEmpty();
        assertThat(serve("--http-address=127.0.0.1", "--metrics-address=127.0.0.2")
                        .listeners()
                        .metrics()
                        .address())
                .contains("127.0.0.2");
    }

    @Test
    void shouldTellThePoolsSizeFromWhatOfItIsLocked() {
        assertThat(serve("--buffer-pool-byte-size=0").memory()).isEqualTo(MemorySettings.STANDARD);
        assertThat(serve("--buffer-pool-byte-size=4096").memory().bufferPoolByteSize())
                .isEqualTo(4096);
        MemorySettings pinned = serve("--pinned-memory-pool-byte-size=0").memory();
        assertThat(pinned.pinnedByteSize()).isZero();
        assertThat(pinned.bufferPoolByteSize()).isEqualTo(MemorySettings.STANDARD.bufferPoolByteSize());
    }

    @Test
    void shouldLimitRatesOnlyWhenTold() {
        assertThat(serve("--rate-limit=off", "--rate-limit-resource=R:1")
                        .models()
                        .runs()
                        .rateLimit())
                .isEmpty();
        assertThat(serve("--rate-limit=execution_count").models().runs().rateLimit())
                .contains(List.of());
        assertThat(serve("--rate-limit=execution_count", "--rate-limit-resource=R:1", "--rate-limit-resource=S:2:0")
                        .models()
                        .runs()
                        .rateLimit())
                .contains(List.of(
                        new ResourceAmount("R", 1, ResourceAmount.EVERY_DEVICE), new ResourceAmount("S", 2, 0)));
        assertThat(refused("--rate-limit=often")).contains("'often' is not a mode: off or execution_count");
    }

    private String refused(String flag) {
        served.clear();
        return refuse(flag);
    }

    @Test
    void shouldTakeTheFormatsOfTriton() {
        serve("--log-format=ISO8601", "--log-info=false", "--log-warning=0", "--log-error=FALSE", "--log-file=l");
        assertThat(logs.getLast())
                .isEqualTo(new LogSettings(0, false, false, false, LogFormat.ISO8601, Optional.of(Path.of("l"))));
    }

    @ParameterizedTest
    @CsvSource({
        "--http-prot=1, --http-port",
        "--http_port=1, --http-port",
        "--modl-repository=x, --model-repository",
        "--alow-grpc, --allow-grpc",
        "--log-verbsoe, --log-verbose"
    })
    void shouldSuggestTheNearestOfAnUnknownFlag(String typed, String meant) {
        String name = typed.replaceFirst("=.*", "");
        assertThat(refuse(typed)).contains("unknown flag " + name + ". Did you mean " + meant + "?");
    }

    @Test
    void shouldSuggestNothingWhereNothingIsNear() {
        assertThat(refuse("--quantum-entanglement"))
                .contains("unknown flag --quantum-entanglement.")
                .doesNotContain("mean");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "--http-port=65536; --http-port: '65536' is not a port",
                "--http-port=-1; --http-port: '-1' is not a port",
                "--grpc-port=ten; --grpc-port: 'ten' is not a port",
                "--allow-http=maybe; --allow-http: 'maybe' is not true or false",
                "--http-max-input-size=0; --http-max-input-size: '0' is not a number of bytes",
                "--buffer-pool-byte-size=9223372036854775808; is not a number of bytes",
                "--exit-timeout-secs=-1; --exit-timeout-secs: '-1' is not a number of seconds",
                "--model-load-thread-count=0; --model-load-thread-count: '0' is not a number from 1",
                "--log-verbose=x; --log-verbose: 'x' is not a level",
                "--log-format=xml; --log-format: 'xml' is not a format: default, ISO8601 or json",
                "--model-control-mode=all; --model-control-mode: 'all' is not a mode: none, poll or explicit",
                "--model-control-mode=auto; none, poll or explicit",
                "--repository-poll-secs=0; a number of seconds from 1 up",
                "--backend-config=a=b; --backend-config: 'a=b' is not BACKEND,OPTION=VALUE",
                "--backend-config=,a=b; is not BACKEND,OPTION=VALUE",
                "--backend-config=a,=b; is not BACKEND,OPTION=VALUE",
            })
    void shouldSayWhatAWrongValueShouldHaveBeen(String flag, String text) {
        assertThat(refuse(flag)).contains(text).contains("See 'gatun serve --help'.");
    }

    @Test
    void shouldRefuseModelsToLoadWhereAllAreLoaded() {
        assertThat(refuse("--load-model=digits"))
                .contains("--load-model needs --model-control-mode=explicit: in mode none all models are loaded.");
        assertThat(serve("--model-control-mode=explicit", "--load-model=digits")
                        .models()
                        .control()
                        .loadModels())
                .contains(List.of("digits"));
    }

    @Test
    void shouldCompleteTheBeginningOfAFlagThatNoOtherHas() {
        serve("--log-warn=false", "--http-po", "7");
        assertThat(logs.getLast().warning()).isFalse();
        assertThat(served.getLast().listeners().http().bind().port()).isEqualTo(7);
        assertThat(serve("--pinned-mem=4096").memory().pinnedByteSize()).isEqualTo(4096);
        assertThat(refused("--log-=1"))
                .contains("option '--log-' is ambiguous; possibilities: '--log-error' '--log-file' '--log-format'");
    }

    @Test
    void shouldAskForTheRepository() {
        assertThat(run("serve", "--http-port=0")).isEqualTo(2);
        assertThat(err.toString()).contains("missing PATH, or --model-repository=DIR");
    }

    @Test
    void shouldWarnOfFlagsOfOtherServersOnce() {
        serve("--http-thread-count", "8", "--trace-file", "t", "--trace-file=u", "--flush_filesystem_caches");
        assertThat(warnings)
                .containsExactly(
                        "--flush_filesystem_caches is a flag of TensorFlow Serving that has no effect in Gatun: the"
                                + " operating system gives up what it has cached of files by itself",
                        "--http-thread-count is a flag of Triton that has no effect in Gatun; it is ignored",
                        "--trace-file is a flag of Triton that has no effect in Gatun; it is ignored");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--use_alts_credentials=true"})
    void shouldRefuseToDropAFlagThatProtectsTheServer(String flag) {
        assertThat(refuse(flag)).contains(flag.replaceFirst("=.*", "")).contains("lie open");
    }

    @Test
    void shouldRestrictTheGroupsThatAreNamed() {
        ApiAccess http = serve("--http-restricted-api=health,metadata:k=v=w", "--http-restricted-api", "trace:x=y")
                .clients()
                .access()
                .http()
                .access();
        assertThat(http.refusal(ApiGroup.METADATA, name -> Optional.of("v=w"))).isEmpty();
        assertThat(http.refusal(ApiGroup.TRACE, name -> Optional.empty()))
                .contains(new ApiAccess.Refusal.MissingHeader("x"));
        assertThat(http.refusal(ApiGroup.INFERENCE, name -> Optional.empty())).isEmpty();
        ApiAccess grpc = serve("--grpc-restricted-protocol=inference:k=v")
                .clients()
                .access()
                .grpc()
                .access();
        assertThat(grpc.refusal(ApiGroup.INFERENCE, name -> Optional.empty()))
                .contains(new ApiAccess.Refusal.MissingHeader("triton-grpc-protocol-k"));
    }

    @Test
    void shouldNotStartWithRestrictionsThatCannotBe() {
        assertThat(refuse("--http-restricted-api=health")).contains("is not a list of groups");
        assertThat(refuse("--http-restricted-api=healthy:k=v"))
                .contains("'healthy' is not a group of requests: health,");
        assertThat(refuse("--http-restricted-api=health:k")).contains("'k' is not a header's name and value");
        assertThat(refuse("--http-restricted-api=health:k=v", "--http-restricted-api=trace,health:k=v"))
                .contains("names the group health twice");
        assertThat(refuse("--http-token-file=all:/no/such/file")).contains("/no/such/file cannot be read");
        assertThat(refuse("--http-header-forward-pattern=(")).contains("is not a regular expression");
    }

    @Test
    void shouldWarnWhereProtectionIsSwitchedOffAnyway() {
        serve("--use_alts_credentials=false");
        assertThat(warnings).singleElement().asString().contains("--use_alts_credentials");
    }

    @Test
    void shouldReadWhatTlsIsServedWith() {
        assertThat(serve("--grpc-use-ssl=false", "--grpc-server-cert=a")
                        .listeners()
                        .grpc()
                        .bind()
                        .tls())
                .isEmpty();
        String[] files = {"--grpc-server-cert=a", "--grpc-server-key=b", "--grpc-root-cert=c"};
        assertThat(serve("--grpc-use-ssl=true", files[0], files[1], files[2])
                        .listeners()
                        .grpc()
                        .bind()
                        .tls())
                .contains(new TlsFiles(
                        new PemFile("--grpc-server-cert", Path.of("a")),
                        new PemFile("--grpc-server-key", Path.of("b")),
                        Optional.empty()));

        assertThat(serve("--grpc-use-ssl-mutual=1", files[0], files[1], files[2])
                        .listeners()
                        .grpc()
                        .bind()
                        .tls()
                        .orElseThrow()
                        .clientRoots())
                .contains(new PemFile("--grpc-root-cert", Path.of("c")));
    }

    @Test
    void shouldSpeakHttpOverTlsWithACertificate() {
        assertThat(serve("--http-server-cert=a", "--http-server-key=b")
                        .listeners()
                        .http()
                        .bind()
                        .tls())
                .contains(new TlsFiles(
                        new PemFile("--http-server-cert", Path.of("a")),
                        new PemFile("--http-server-key", Path.of("b")),
                        Optional.empty()));
        assertThat(serve("--http-server-cert=a", "--http-server-key=b", "--http-root-cert=c")
                        .listeners()
                        .http()
                        .bind()
                        .tls()
                        .orElseThrow()
                        .clientRoots())
                .contains(new PemFile("--http-root-cert", Path.of("c")));
    }

    @Test
    void shouldReadHowGrpcConnectionsAreKeptAlive() {
        ServerSettings settings = serve(
                "--grpc-keepalive-time=1",
                "--grpc-keepalive-timeout=2",
                "--grpc-keepalive-permit-without-calls=true",
                "--grpc-http2-max-pings-without-data=3",
                "--grpc-http2-min-recv-ping-interval-without-data=4",
                "--grpc-http2-max-ping-strikes=5",
                "--grpc-max-connection-age=6",
                "--grpc-max-connection-age-grace=7");

        assertThat(settings.listeners().grpc().keepalive())
                .isEqualTo(new KeepaliveSettings(
                        new KeepaliveSettings.Pings(Duration.ofMillis(1), Duration.ofMillis(2), 3),
                        new KeepaliveSettings.ClientPings(Duration.ofMillis(4), 5),
                        true,
                        new KeepaliveSettings.Age(Optional.of(Duration.ofMillis(6)), Optional.of(Duration.ofMillis(7))),
                        Duration.ofSeconds(20)));
    }

    @Test
    void shouldReadHowPredictAnswers() {
        serve("--enable_serialization_as_tensor_content");
        assertThat(protocol(TensorFlowProtocolProvider.class).settings().tensorContent())
                .isTrue();
        served.clear();
        serve("--enable_serialization_as_tensor_content=false");
        assertThat(protocol(TensorFlowProtocolProvider.class).settings().tensorContent())
                .isFalse();
    }

    @Test
    void shouldReadHowMuchResponsesAreCompressed() {
        serve("--grpc-infer-response-compression-level=high");
        assertThat(protocol(V2ProtocolProvider.class).compression()).isEqualTo(ResponseCompression.HIGH);
        served.clear();
        assertThat(refuse("--grpc-infer-response-compression-level=best"))
                .contains("'best' is not a level: none, low, medium or high");
    }

    @Test
    void shouldNameTheFileThatTlsOverHttpLacks() {
        assertThat(refuse("--http-server-cert=a")).contains("--http-server-cert needs --http-server-key=FILE");
        assertThat(refuse("--http-server-key=b")).contains("--http-server-key needs --http-server-cert=FILE");
        assertThat(refuse("--http-root-cert=c")).contains("--http-root-cert needs --http-server-cert=FILE");
    }

    @Test
    void shouldNameTheFileThatTlsLacks() {
        assertThat(refuse("--grpc-use-ssl=true")).contains("--grpc-use-ssl needs --grpc-server-cert=FILE");
        assertThat(refuse("--grpc-use-ssl=true", "--grpc-server-cert=a"))
                .contains("--grpc-use-ssl needs --grpc-server-key=FILE");
        assertThat(refuse("--grpc-use-ssl-mutual=true", "--grpc-server-cert=a", "--grpc-server-key=b"))
                .contains("--grpc-use-ssl-mutual needs --grpc-root-cert=FILE");
    }

    @Test
    void shouldGroupTheHelpWithinEightyColumns() {
        assertThat(run("serve", "--help")).isZero();
        assertThat(out.toString())
                .contains("\nModels:\n", "\nHTTP:\n", "\ngRPC:\n", "\nMetrics:\n", "\nMemory:\n", "\nLogging:\n")
                .contains("--http-port=PORT", "Default: 8000.")
                .doesNotContain("--http-thread-count");
        assertThat(out.toString().lines()).allMatch(line -> line.length() <= 80);
    }

    @Test
    void shouldSayWhichFlagsBelongToServe() {
        assertThat(run("--model-repository=models")).isEqualTo(2);
        assertThat(err.toString()).contains("--model-repository is a flag of 'gatun serve'");
    }

    @Test
    void shouldSuggestTheNearestCommand() {
        assertThat(run("srve")).isEqualTo(2);
        assertThat(err.toString()).contains("'srve' is neither a command nor a flag. Did you mean serve?");
    }

    @Test
    void shouldWriteTheLogsAsTold() {
        serve();
        assertThat(logging.getLast().access()).isEmpty();
        assertThat(logging.getLast().rotation()).isEqualTo(LogRotation.NONE);
        serve("--access-log=a.log", "--log-rotate-bytes=1000", "--log-rotate-files=2");
        assertThat(logging.getLast().access()).contains(new AccessLogSettings(Optional.of(Path.of("a.log")), false));
        assertThat(logging.getLast().rotation()).isEqualTo(new LogRotation(1000, 2));
        serve("--access-log=-", "--log-format=json");
        assertThat(logs.getLast().format()).isEqualTo(LogFormat.JSON);
        assertThat(logging.getLast().access()).contains(new AccessLogSettings(Optional.empty(), true));
        serve("--access-log=-", "--log-format=json", "--access-log-format=text");
        assertThat(logging.getLast().access()).contains(new AccessLogSettings(Optional.empty(), false));
        served.clear();
        assertThat(refuse("--access-log-format=xml")).contains("'xml' is not a format: text or json");
    }

    @Test
    void shouldShowHowToStartWhereNothingIsAsked() {
        assertThat(run()).isEqualTo(2);
        assertThat(err.toString()).contains("gatun serve PATH");
    }

    @Test
    void shouldTellItsVersion() {
        assertThat(run("--version")).isZero();
        assertThat(out.toString()).isEqualTo("gatun 1.2.3" + System.lineSeparator());
    }

    @Test
    void shouldTakeTheSizeOfTheResponseCacheByEitherFlagButNotByBoth() {
        assertThat(serve("--cache-config=local,size=1048576").memory().responseCache())
                .contains(new ResponseCacheSettings.Local(1_048_576));
        assertThat(serve("--response-cache-byte-size=4096").memory().responseCache())
                .contains(new ResponseCacheSettings.Local(4096));
        assertThat(serve("--response-cache-byte-size=0").memory().responseCache())
                .isEmpty();
        served.clear();
        assertThat(refuse("--cache-config=local,size=1", "--response-cache-byte-size=2"))
                .contains("Incompatible flags --response-cache-byte-size and --cache-config both provided.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"local,size=0", "local,size=big", "local,key=value"})
    void shouldSayWhatTheLocalCacheTakes(String value) {
        assertThat(refuse("--cache-config=" + value)).contains("local,size=BYTES");
    }

    @ParameterizedTest
    @ValueSource(strings = {"local", "size=5", ",size=5", "local,=5"})
    void shouldSayWhatACacheConfigurationLooksLike(String value) {
        assertThat(refuse("--cache-config=" + value)).contains("CACHE,OPTION=VALUE");
    }

    @Test
    void shouldTakeTheOptionsOfOneOtherCache() {
        assertThat(serve("--cache-config=redis,host=store", "--cache-config=redis,port=6379")
                        .memory()
                        .responseCache())
                .contains(new ResponseCacheSettings.Shared("redis", Map.of("host", "store", "port", "6379")));
        served.clear();
        assertThat(refuse("--cache-config=local,size=8192", "--cache-config=redis,host=store"))
                .contains("multiple cache configurations");
    }

    @Test
    void shouldNotShowTheOptionsOfACache() {
        assertThat(serve("--cache-config=redis,password=secret").memory().toString())
                .contains("password")
                .doesNotContain("secret");
    }
}
