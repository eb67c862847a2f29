// SPDX-License-Identifier: Apache-2.0
package gatun.it.limits;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.Bystander;
import gatun.it.harness.ChildJvm;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.sharedmemory.MemfdClient;
import gatun.testing.Await;
import gatun.testing.attacks.Attack;
import gatun.testing.attacks.ConnectionAttacks;
import gatun.testing.attacks.ControlAttacks;
import gatun.testing.attacks.GrpcAttacks;
import gatun.testing.attacks.HttpHeapAttacks;
import gatun.testing.attacks.LongTokenAttacks;
import gatun.testing.attacks.Target;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A table of attacks on a server with default flags: the response to each, that another client is served meanwhile, and
 * that the attack leaves nothing behind. Clients may load models, which is not the default, so that configurations are
 * attacked too; stalled TLS handshakes need a port of their own ({@link IdleConnectionsIT}). The sizes are those of one
 * attack in a second; {@code -Dgatun.attacks=full} takes those that once ended the process.
 */
@Timeout(120)
@TestInstance(Lifecycle.PER_CLASS)
class AttackIT {
    private static final boolean FULL = "full".equals(System.getProperty("gatun.attacks"));
    private static final int TEXT_BYTES = FULL ? 60_000_000 : 6_000_000;
    private static final int COUNT = FULL ? 10_000_000 : 500_000;
    private static final int CONNECTIONS = FULL ? 2000 : 200;

    private static final String LENT_BYTES = "gatun_buffer_pool_used_bytes";

    /** The growth in KiB that is allowed to the heap of an idle server after an attack. */
    private static final long HEAP_SLACK = 24 << 10;

    /** The region of a client that was killed. */
    private static final String ABANDONED = "abandoned";

    private static final Pattern USED_HEAP = Pattern.compile("(\\d+)K used|used (\\d+)K");

    private ServerProcess server;
    private HttpApi http;
    private Bystander bystander;
    private Target target;
    private int descriptors;
    private int threads;
    private long heap;

    @BeforeAll
    void start(@TempDir Path repository) throws Exception {
        addIdentity(repository, "identity_int8", "TYPE_INT8");
        addIdentity(repository, "identity_bytes", "TYPE_STRING");
        server = ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--model-repository=" + repository,
                "--allow-client-shm",
                "--model-control-mode=explicit",
                "--load-model=*");
        http = new HttpApi(server);
        target = Target.local(server.httpPort(), server.grpcPort());
        bystander = new Bystander(server);
        bystander.awaitAnswers(50);
        http.metric(LENT_BYTES);
        descriptors = openDescriptors();
        threads = threads();
        heap = usedHeap();
        leaveRegionBehind();
    }

    /** A client registers sealed memory and is killed: the server finds that out while the attacks go on. */
    private void leaveRegionBehind() throws Exception {
        try (ChildJvm client = ChildJvm.launch(MemfdClient.class, "sealed", "1")) {
            String key = client.awaitLine("exported ", Duration.ofSeconds(20));
            assertThat(http.register(ABANDONED, key, "0", "" + MemfdClient.BYTE_SIZE)
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    private static void addIdentity(Path repository, String name, String datatype) throws IOException {
        Files.createDirectories(repository.resolve(name + "/1"));
        Files.writeString(repository.resolve(name + "/config.pbtxt"), """
                backend: "identity"
                max_batch_size: 0
                input [ { name: "IN" data_type: %s dims: [ -1 ] } ]
                output [ { name: "OUT" data_type: %s dims: [ -1 ] } ]
                """.formatted(datatype, datatype));
    }

    Stream<Attack> attacks() {
        return Stream.of(
                        new HttpHeapAttacks(TEXT_BYTES).all(),
                        new LongTokenAttacks(TEXT_BYTES).all(),
                        new GrpcAttacks(COUNT).all(),
                        new ControlAttacks().all(),
                        new ConnectionAttacks(CONNECTIONS, () -> bystander.awaitAnswers(100)).all())
                .flatMap(List::stream);
    }

    @ParameterizedTest
    @MethodSource("attacks")
    void shouldCostNobodyElseAnything(Attack attack) throws Exception {
        String outcome = attack.action().run(target);
        bystander.awaitAnswers(1);

        assertThat(server.handle().isAlive())
                .as("the server lives" + server.transcript())
                .isTrue();
        assertThat(bystander.takeFailures()).as("what another client got").isEmpty();
        assertThat(outcome).as("what the attacker got").isIn(attack.outcomes());
        awaitNothingLeft();
    }

    /** Last, because it takes a collection of all garbage. */
    @Test
    void shouldHoldNoHeapOfAttacks() throws Exception {
        for (Attack attack : new HttpHeapAttacks(TEXT_BYTES).all()) {
            attack.action().run(target);
        }
        assertThat(usedHeap()).as("KiB of heap after, %d before", heap).isLessThan(heap + HEAP_SLACK);
    }

    private void awaitNothingLeft() {
        Await.until(
                "%d descriptors, %d before; %d threads, %d before; %s bytes lent"
                        .formatted(openDescriptors(), descriptors, threads(), threads, http.metric(LENT_BYTES)),
                () -> !(openDescriptors() > descriptors + 4
                        || threads() > threads + 8
                        || http.metric(LENT_BYTES) > (1 << 20)));
    }

    private void awaitTakenBack() {
        Await.until(
                "the region is still registered",
                () -> !http.get("/v2/systemsharedmemory/status").body().contains(ABANDONED));
    }

    private int openDescriptors() {
        return entries("fd");
    }

    private int threads() {
        return entries("task");
    }

    private int entries(String folder) {
        File[] entries = new File("/proc/" + server.handle().pid() + "/" + folder).listFiles();
        return Objects.requireNonNull(entries, "/proc cannot be read").length;
    }

    /** KiB of the heap that are in use after a collection. */
    private long usedHeap() throws Exception {
        jcmd("GC.run");
        String info = jcmd("GC.heap_info");
        long used = 0;
        Matcher matcher = USED_HEAP.matcher(info);
        while (matcher.find()) {
            used += Long.parseLong(matcher.group(1) == null ? matcher.group(2) : matcher.group(1));
        }
        return used;
    }

    private String jcmd(String command) throws Exception {
        Process jcmd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(server.handle().pid()),
                        command)
                .redirectErrorStream(true)
                .start();
        String text = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(jcmd.waitFor()).as(text).isZero();
        return text;
    }

    @AfterAll
    void stop() {
        awaitTakenBack();
        bystander.close();
        http.close();
        server.close();
    }
}
