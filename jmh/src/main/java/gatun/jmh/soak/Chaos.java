// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.soak;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.ServerException;
import gatun.memory.regions.SharedMemoryObject;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.testing.attacks.Attack;
import gatun.testing.attacks.ConnectionAttacks;
import gatun.testing.attacks.GrpcAttacks;
import gatun.testing.attacks.HttpAttacker;
import gatun.testing.attacks.HttpHeapAttacks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Does one hostile or unlucky thing after the other to a server. Used by one thread. */
final class Chaos implements AutoCloseable {
    private static final int TEXT_BYTES = 8 << 20;
    private static final int COUNT = 300_000;
    private static final int CONNECTIONS = 100;
    private static final long HELD_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long REGION_BYTES = 1 << 20;

    private final SoakServer server;
    private final GatunClient client;
    private final List<Attack> attacks = new ArrayList<>();
    private int next;
    private int round;

    Chaos(SoakServer server) {
        this.server = server;
        this.client = GatunClient.connect("http://127.0.0.1:" + server.httpPort());
        attacks.add(new Attack("kill -9 of a client with a region", Set.of("killed"), target -> killed()));
        attacks.add(new Attack("a region that is truncated", Set.of("truncated"), target -> truncated()));
        attacks.add(new Attack("requests that are cut off", Set.of("cut"), target -> cut()));
        attacks.add(new Attack("a reload of the model that serves", Set.of("reloaded"), target -> reloaded()));
        attacks.addAll(new HttpHeapAttacks(TEXT_BYTES).all());
        attacks.addAll(new GrpcAttacks(COUNT).all());
        attacks.addAll(new ConnectionAttacks(CONNECTIONS, () -> LockSupport.parkNanos(HELD_NANOS)).all());
    }

    /** Does the next thing; returns the failure, or an empty text. */
    String once() {
        Attack attack = attacks.get(next);
        next = (next + 1) % attacks.size();
        try {
            String outcome = attack.action().run(server.target());
            return attack.outcomes().contains(outcome) ? "" : attack + ": " + outcome;
        } catch (IOException | ClientException e) {
            return attack + ": " + e;
        }
    }

    private String killed() throws IOException {
        try {
            Victim.killOne("unix:" + server.folder().resolve("http.sock"));
            return "killed";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    /** A region whose owner makes it shorter while a request reads it: that request may fail, and nothing else. */
    private String truncated() {
        String region = "soak-" + ++round;
        try (SharedMemoryObject object = SharedMemoryObject.posix(
                "/gatun-" + region + "-" + ProcessHandle.current().pid(), REGION_BYTES)) {
            client.regions().register(region, object.key(), 0, REGION_BYTES);
            try {
                object.resize(0);
                client.infer(InferRequest.to("identity_fp32")
                                .inputInRegion(
                                        "INPUT0",
                                        Datatype.FP32,
                                        Shape.of(REGION_BYTES / Float.BYTES),
                                        region,
                                        0,
                                        REGION_BYTES)
                                .build())
                        .close();
                return "a truncated region was read";
            } catch (ServerException e) {
                return "truncated";
            } finally {
                client.regions().unregister(region);
            }
        }
    }

    private String cut() throws IOException {
        for (int i = 0; i < CONNECTIONS; i++) {
            try (HttpAttacker attacker = new HttpAttacker(server.target().http())) {
                attacker.announce("/v2/models/simple/infer", 100_000);
                attacker.send("{\"inputs\":[{\"name\":");
            }
        }
        return "cut";
    }

    private String reloaded() throws IOException {
        String config;
        try {
            config = JsonFormat.printer()
                    .omittingInsignificantWhitespace()
                    .print(client.models().config("simple", ""));
        } catch (InvalidProtocolBufferException e) {
            throw new IOException(e);
        }
        client.models().load("simple", config, Map.of());
        return "reloaded";
    }

    @Override
    public void close() {
        client.close();
    }
}
