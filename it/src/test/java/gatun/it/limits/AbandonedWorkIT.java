// SPDX-License-Identifier: Apache-2.0
package gatun.it.limits;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.Bystander;
import gatun.it.harness.RawHttp;
import gatun.it.harness.ServerProcess;
import gatun.testing.attacks.Http2Attacker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;

/** Clients of this machine that throw work away have one budget, over whatever protocol; nobody else pays for it. */
@Timeout(120)
@TestInstance(Lifecycle.PER_CLASS)
class AbandonedWorkIT {
    private static final int RST_STREAM = 3;

    /** The size that is announced for a body, of which a part never comes. */
    private static final int BODY_BYTES = 32 << 20;

    /** More bodies than anybody may throw away, at however slow a machine. */
    private static final int MOST_BODIES = 400;

    private ServerProcess server;
    private Bystander bystander;

    @BeforeAll
    void start() throws Exception {
        server = ServerProcess.launch(ServerProcess.exampleModels());
        bystander = new Bystander(server);
        bystander.awaitAnswers(20);
    }

    @AfterAll
    void stop() {
        bystander.close();
        server.close();
    }

    private InetSocketAddress http() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.httpPort());
    }

    private void sendMostOfABody(byte[] part) throws IOException {
        try (RawHttp client = RawHttp.connect(http())) {
            client.send("POST /v2/models/simple/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + BODY_BYTES
                    + "\r\n\r\n");
            client.send(part);
        }
    }

    /** What a gRPC client hears that resets its first call and asks for nothing else. */
    private boolean isCutOffAtItsFirstReset() throws IOException {
        try (Http2Attacker client =
                new Http2Attacker(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.grpcPort()))) {
            client.call(1);
            client.frame(RST_STREAM, 0, 1, new byte[] {0, 0, 0, 8});
            client.call(3);
            client.frame(0, 1, 3, new byte[5]);
            client.flush();
            return client.outcome(3).equals("GOAWAY 11");
        }
    }

    @Test
    void shouldCountTheBodiesThatHttpClientsBreakOff() throws Exception {
        byte[] part = new byte[BODY_BYTES - 1];
        assertThat(isCutOffAtItsFirstReset()).as("before").isFalse();

        int bodies = 0;
        while (!isCutOffAtItsFirstReset()) {
            assertThat(bodies++).as("bodies that count for nothing").isLessThan(MOST_BODIES);
            sendMostOfABody(part);
        }

        bystander.awaitAnswers(20);
        assertThat(bystander.takeFailures()).as("what another client got").isEmpty();
    }
}
