// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.function.IntSupplier;

/** Ports of the loopback address for programs that cannot be asked where they listen. */
public final class FreePorts {
    private static final int ATTEMPTS = 5;

    private FreePorts() {}

    /** Starts a program on ports that it is told. */
    @FunctionalInterface
    public interface Starter<T> {
        /**
         * Starts it, and waits until it listens.
         *
         * @param ports gives a port that was free a moment ago
         * @throws AssertionError if it does not start; the message has what it said
         */
        T start(IntSupplier ports) throws IOException, InterruptedException;
    }

    /** Starts a program, and again on other ports where somebody took one before it did. */
    public static <T> T start(Starter<T> starter) throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return starter.start(FreePorts::freePort);
            } catch (AssertionError failure) {
                if (attempt == ATTEMPTS || !String.valueOf(failure.getMessage()).contains("in use")) {
                    throw failure;
                }
            }
        }
    }

    /** A port that refuses connections until the socket is closed, since it is bound and does not listen. */
    public static Socket refusing() throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        return socket;
    }

    private static int freePort() {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        } catch (IOException e) {
            throw new AssertionError("there is no free port", e);
        }
    }
}
