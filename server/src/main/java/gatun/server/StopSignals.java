package gatun.server;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Turns SIGTERM and SIGINT into an orderly stop. Without it the JVM would exit with 143 or 130 however well the stop
 * went, and a second Ctrl-C would wait for the first.
 *
 * <p>The JDK offers signals only in {@code sun.misc}, which it supports (module {@code jdk.unsupported}) but about
 * which the compiler warns beyond recall. Hence the one use of reflection.
 */
final class StopSignals {
    /** What a shell reports for a program that SIGINT ended. */
    private static final int KILLED_BY_SIGINT = 130;

    private final CountDownLatch asked = new CountDownLatch(1);
    private final AtomicBoolean interrupted = new AtomicBoolean();

    private StopSignals() {}

    /** Takes over both signals for the rest of the process. */
    static StopSignals install() {
        StopSignals signals = new StopSignals();
        signals.on("TERM", signals.asked::countDown);
        signals.on("INT", signals::interrupt);
        return signals;
    }

    /** Waits until the process is told to stop. */
    void await() throws InterruptedException {
        asked.await();
    }

    /** Whether the process was told to stop. */
    boolean asked() {
        return asked.getCount() == 0;
    }

    private void interrupt() {
        asked.countDown();
        if (interrupted.getAndSet(true)) {
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
