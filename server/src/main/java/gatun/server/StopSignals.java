// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.server.warmup.StopWait;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Turns SIGTERM and SIGINT into an orderly stop, and SIGHUP into a call; the JVM would exit with 143, 130 or 129.
 * Thread-safe. Uses reflection, since the warning of the compiler about {@code sun.misc} cannot be suppressed.
 */
final class StopSignals implements StopWait {
    /** The exit status that a shell reports for a program that SIGINT ended. */
    private static final int KILLED_BY_SIGINT = 130;

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CompletableFuture<Void> told = new CompletableFuture<>();
    private final CountDownLatch askedAgain = new CountDownLatch(1);
    private final AtomicBoolean interrupted = new AtomicBoolean();
    private volatile boolean draining;
    private volatile Runnable onHangUp = () -> {};

    private StopSignals() {}

    static StopSignals install() {
        StopSignals signals = new StopSignals();
        signals.on("TERM", signals::ask);
        signals.on("INT", signals::interrupt);
        signals.on("HUP", () -> signals.onHangUp.run());
        return signals;
    }

    /** Has SIGHUP run {@code action} from now on, on a thread of its own. */
    void onHangUp(Runnable action) {
        onHangUp = action;
    }

    /** Waits until the process is told to stop. */
    void await() throws InterruptedException {
        asked.await();
    }

    @Override
    public boolean isTold() {
        return asked.getCount() == 0;
    }

    @Override
    public boolean await(Duration limit) throws InterruptedException {
        return asked.await(limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Waits for {@code drain}, or until the process is told again to stop. */
    void awaitDrain(Duration drain) throws InterruptedException {
        draining = true;
        try {
            askedAgain.await(drain.toNanos(), TimeUnit.NANOSECONDS);
        } finally {
            draining = false;
        }
    }

    private void ask() {
        if (isTold() && draining) {
            askedAgain.countDown();
        }
        asked.countDown();
        told.complete(null);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // nobody waits for the action
    public void whenTold(Runnable action) {
        told.thenRunAsync(action);
    }

    private void interrupt() {
        boolean endsDrain = isTold() && draining && askedAgain.getCount() > 0;
        ask();
        if (!endsDrain && interrupted.getAndSet(true)) {
            Runtime.getRuntime().halt(KILLED_BY_SIGINT);
        }
    }

    private void on(String name, Runnable action) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            InvocationHandler onlyMethod = (proxy, method, arguments) -> {
                action.run();
                return null;
            };
            Object proxy = Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler}, onlyMethod);
            Object named = signal.getConstructor(String.class).newInstance(name);
            signal.getMethod("handle", signal, handler).invoke(null, named, proxy);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "this JVM does not let the server handle SIG" + name + "; start it without -Xrs", e);
        }
    }
}
