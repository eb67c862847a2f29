// SPDX-License-Identifier: Apache-2.0
package gatun.testing.attacks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Connections that do less than they promise. Each attack holds them until it has seen that the server still answers
 * other requests, and closes them.
 */
public final class ConnectionAttacks {
    private static final String HELD = "held";
    private static final long ANNOUNCED = 64 << 20;

    /** An action that runs while the connections are held. */
    @FunctionalInterface
    public interface Meanwhile {
        /** Returns when enough was seen. */
        void run() throws IOException;
    }

    private final int count;
    private final Meanwhile meanwhile;

    /** Attacks with {@code count} connections, which are held until {@code meanwhile} returns. */
    public ConnectionAttacks(int count, Meanwhile meanwhile) {
        this.count = count;
        this.meanwhile = meanwhile;
    }

    /** Every attack of this kind. */
    public List<Attack> all() {
        return List.of(
                new Attack(
                        "bodies of 64 MiB that do not come",
                        Set.of(HELD),
                        target -> hold(() -> {
                            HttpAttacker attacker = new HttpAttacker(target.http());
                            attacker.announce("/v2/models/simple/infer", ANNOUNCED);
                            attacker.send("{\"inputs\":");
                            return attacker;
                        })),
                new Attack(
                        "messages of 64 MiB that do not come",
                        Set.of(HELD),
                        target -> hold(() -> {
                            Http2Attacker attacker = new Http2Attacker(target.grpc());
                            for (int stream = 1; stream < 9; stream += 2) {
                                attacker.call(stream);
                                attacker.announce(stream, ANNOUNCED);
                            }
                            attacker.flush();
                            return attacker;
                        })),
                new Attack(
                        "half heads",
                        Set.of(HELD),
                        target -> hold(() -> {
                            HttpAttacker attacker = new HttpAttacker(target.http());
                            attacker.send("POST /v2/models/simple/infer HTTP/1.1\r\nHost: a\r\nX-Half: ");
                            return attacker;
                        })),
                new Attack(
                        "connections that say nothing",
                        Set.of(HELD),
                        target -> hold(() -> new HttpAttacker(target.http()))),
                new Attack(
                        "prefaces and no more", Set.of(HELD), target -> hold(() -> new Http2Attacker(target.grpc()))));
    }

    @FunctionalInterface
    private interface Opening {
        AutoCloseable open() throws IOException;
    }

    private String hold(Opening opening) throws IOException {
        List<AutoCloseable> held = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                held.add(opening.open());
            }
            meanwhile.run();
            return HELD;
        } finally {
            for (AutoCloseable connection : held) {
                close(connection);
            }
        }
    }

    private static void close(AutoCloseable connection) throws IOException {
        try {
            connection.close();
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }
}
