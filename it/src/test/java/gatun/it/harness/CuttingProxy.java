// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** Passes connections on to a server, and cuts each that has brought so many bytes; or has them hang. */
public final class CuttingProxy implements AutoCloseable {
    private final ServerSocket listener;
    private final int target;
    private final long cutAfter;
    private final List<Socket> connections = new CopyOnWriteArrayList<>();
    private final AtomicLong cuts = new AtomicLong();
    private final CountDownLatch swallowed = new CountDownLatch(1);
    private volatile boolean isHanging;

    private CuttingProxy(ServerSocket listener, int target, long cutAfter) {
        this.listener = listener;
        this.target = target;
        this.cutAfter = cutAfter;
    }

    /** Starts one before a server on the loopback address. */
    public static CuttingProxy start(int target, long cutAfter) throws IOException {
        CuttingProxy proxy =
                new CuttingProxy(new ServerSocket(0, 64, InetAddress.getLoopbackAddress()), target, cutAfter);
        Thread.ofVirtual().start(proxy::accept);
        return proxy;
    }

    /** The port to connect to. */
    public int port() {
        return listener.getLocalPort();
    }

    /** How many connections were cut. */
    public long cuts() {
        return cuts.get();
    }

    /** From now on takes what comes, and passes nothing on. */
    public void hang() {
        isHanging = true;
    }

    /** Opened when something came after that. */
    public CountDownLatch swallowed() {
        return swallowed;
    }

    private void accept() {
        while (true) {
            try {
                Socket client = listener.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
                connections.add(client);
                connections.add(server);
                Thread.ofVirtual().start(() -> pass(client, server, Long.MAX_VALUE));
                Thread.ofVirtual().start(() -> pass(server, client, cutAfter));
            } catch (IOException e) {
                return; // Closed.
            }
        }
    }

    private void pass(Socket from, Socket to, long limit) {
        byte[] buffer = new byte[1 << 14];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            long passed = 0;
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                if (isHanging) {
                    swallowed.countDown();
                    continue;
                }
                out.write(buffer, 0, (int) Math.min(n, limit - passed));
                passed += n;
                if (passed >= limit) {
                    cuts.incrementAndGet();
                    return;
                }
            }
        } catch (IOException e) {
            // One of both has ended.
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket connection : connections) {
            connection.close();
        }
    }
}
