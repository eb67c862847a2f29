// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.client.GatunClient;
import gatun.client.SharedTensors;
import gatun.it.gpu.CudaClient;
import gatun.it.harness.ChildJvm;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import gatun.testing.CudaStandIn;
import gatun.testing.CudaStandInCounts;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Processes that end without having closed their shared tensors: by a normal exit, and killed. */
@Timeout(120)
class SharedTensorsEndIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    static Path folder;

    private static CudaStandInCounts counts;

    @AutoClose
    private static ServerProcess server;

    @AutoClose
    private static GatunClient client;

    @BeforeAll
    static void start() throws Exception {
        counts = new CudaStandInCounts(folder.resolve("counts"));
        Map<String, String> environment = new HashMap<>(CudaClient.environment());
        environment.put(CudaStandInCounts.VARIABLE, counts.file().toString());
        server = ServerProcess.launch(ServerProcess.exampleModels(), environment, "--allow-client-shm");
        client = GatunClient.connect("grpc://127.0.0.1:" + server.grpcPort());
    }

    @ParameterizedTest
    @CsvSource({"grpc, sealed", "grpc, posix", "grpc, cuda", "http, sealed", "http, posix", "http, cuda"})
    void shouldLeaveNothingWhenTheProcessEnds(String protocol, String memory) throws Exception {
        try (ChildJvm owner = launch(protocol, memory)) {
            List<String> regions = opened(owner);
            assertThat(registered()).containsAll(regions);
            owner.send("end");
            owner.awaitEnd(LIMIT);
            assertThat(registered()).isEmpty();
            assertThat(objects(regions)).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"grpc, sealed", "grpc, posix", "grpc, cuda", "http, sealed", "http, posix", "http, cuda"})
    void shouldGoOnWhenTheProcessIsKilled(String protocol, String memory) throws Exception {
        try (ChildJvm owner = launch(protocol, memory)) {
            List<String> regions = opened(owner);
            owner.kill();
            try (SharedTensors tensors = SharedTensors.sealed(client, "simple").open()) {
                tensors.set("INPUT0", SimpleModel.LEFT);
                tensors.infer();
                assertThat(tensors.ints("OUTPUT0")).isEqualTo(SimpleModel.LEFT);
            }
            // Any client may unregister the regions of a killed process, as it may those of any other.
            for (String region : regions) {
                client.regions().unregister(region);
                client.regions().unregisterCuda(region);
            }
            assertThat(registered()).isEmpty();
            awaitNoMappings();
            for (Path object : objects(regions)) {
                Files.delete(object);
            }
        }
    }

    private static ChildJvm launch(String protocol, String memory) {
        String url = protocol.equals("grpc")
                ? "grpc://127.0.0.1:" + server.grpcPort()
                : "http://127.0.0.1:" + server.httpPort();
        return ChildJvm.launch(CudaClient.environment(), SharedTensorsOwner.class, url, memory);
    }

    private static List<String> opened(ChildJvm owner) throws InterruptedException {
        List<String> regions = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            regions.add(owner.awaitLine("opened", LIMIT));
        }
        return regions;
    }

    private static List<String> registered() {
        List<String> names = new ArrayList<>();
        client.regions().regions().forEach(region -> names.add(region.name()));
        client.regions().cudaRegions().forEach(region -> names.add(region.name()));
        return names;
    }

    /** Objects of the process that opened these regions: their names begin with its number, too. */
    private static List<Path> objects(List<String> regions) {
        String owner = regions.getFirst().substring(0, regions.getFirst().lastIndexOf('-') + 1);
        File[] found = Path.of("/dev/shm").toFile().listFiles((directory, name) -> name.startsWith(owner));
        return Stream.of(Objects.requireNonNull(found)).map(File::toPath).toList();
    }

    private static void awaitNoMappings() {
        Await.until("regions to be closed", () -> counts.count(CudaStandIn.Count.MAPPINGS) == 0);
    }
}
