// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import gatun.memory.tensor.IoFailure;
import gatun.runtime.repository.TemporaryFolder;
import gatun.spi.Backend;
import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a server of this process's own answer requests of this process's own, so that the code that all servers have in
 * common is compiled when the first clients come. Nothing of it is left afterwards: no thread, connection, file or
 * native memory.
 */
public final class WarmUp {
    private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

    /** Threads that ask; each has several connections. */
    private static final int CALLERS = 2;

    /** Servers, one after another: code compiled for one is partly discarded and compiled better for the next. */
    private static final int ROUNDS = 3;

    private static final Duration LOOK = Duration.ofMillis(500);

    /** The longest that an answer takes, on a machine that has more to do. */
    private static final Duration ANSWER = Duration.ofSeconds(2);

    /** The part of the time that is kept for the end of the server. */
    private static final Duration CLOSING = Duration.ofMillis(200);

    private WarmUp() {}

    /**
     * Asks until nothing is left to compile, {@code stop} comes or {@code limit} is over. Failures are only logged. The
     * models of {@code engine}, if there is one, are asked too.
     */
    public static void run(Duration limit, Optional<Backend> engine, AskedServer.Opener opener, StopWait stop) {
        long begin = System.nanoTime();
        LOG.info("Warming up for {} s at most", limit.toSeconds());
        try (TemporaryFolder files = new TemporaryFolder()) {
            Path folder = files.newFolder();
            Path repository = Files.createDirectory(folder.resolve("models"));
            PrivateModels.write(repository, engine);
            long end = begin + limit.minus(CLOSING).toNanos();
            long answered = 0;
            for (int round = 1; round <= ROUNDS && !stop.isTold(); round++) {
                long now = System.nanoTime();
                if (end - now < LOOK.toNanos()) {
                    break; // Another server would only start.
                }
                long roundEnd = round == ROUNDS ? end : now + (end - now) / 2;
                try (AskedServer server = opener.open(repository, folder)) {
                    answered += ask(server, engine.isPresent(), roundEnd, stop);
                }
            }
            LOG.info("Warmed up by {} requests in {} ms", answered, (System.nanoTime() - begin) / 1_000_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException e) {
            LOG.warn(
                    "The warm-up is left out, and the first requests take longer: {}. It needs a folder for temporary"
                            + " files that this user may write to, with a path of less than 40 bytes; java.io.tmpdir is"
                            + " {}",
                    IoFailure.describe(e),
                    System.getProperty("java.io.tmpdir"));
        }
    }

    /** Returns the number of answered requests. */
    private static long ask(AskedServer server, boolean computed, long end, StopWait stop) throws InterruptedException {
        Requests requests = new Requests(computed, speaksV1(server, end));
        List<WarmUpConnection.Kind> kinds = requests.kinds(server.http(), server.grpc());
        List<Caller> callers = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            Caller caller = new Caller(kinds, i * kinds.size() / CALLERS);
            callers.add(caller);
            threads.add(Thread.ofPlatform().daemon().name("warm-up-" + i).start(caller));
        }
        try {
            await(end, stop);
        } finally {
            end(callers, threads);
        }
        callers.stream()
                .flatMap(caller -> caller.failure().stream())
                .findFirst()
                .ifPresent(failure ->
                        LOG.warn("Some requests of the warm-up failed, the last one with: {}", failure.toString()));
        return callers.stream().mapToLong(Caller::answered).sum();
    }

    /** The jar of v1 may be missing: without a timely answer, v1 is not asked, and its thread ends later. */
    private static boolean speaksV1(AskedServer server, long end) throws InterruptedException {
        FutureTask<Boolean> question = new FutureTask<>(() -> answersV1(server));
        Thread.ofPlatform().daemon().name("warm-up-v1").start(question);
        try {
            return question.get(Math.min(ANSWER.toNanos(), end - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException("the question for v1 failed", e);
        }
    }

    private static boolean answersV1(AskedServer server) {
        try (WarmUpConnection conversation = HttpConversation.begin(server.http(), List.of(Requests.legacyHealth()))) {
            conversation.send();
            conversation.receive();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Cuts only connections that do not end by themselves: a cut makes the JVM discard code for connections. */
    private static void end(List<Caller> callers, List<Thread> threads) throws InterruptedException {
        callers.forEach(Caller::end);
        long deadline = System.nanoTime() + CLOSING.toNanos() / 2;
        for (Thread thread : threads) {
            thread.join(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
        }
        callers.forEach(Caller::cut);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void await(long end, StopWait stop) throws InterruptedException {
        CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
        CompilerWatch watch = new CompilerWatch(LOOK, compilers.getTotalCompilationTime());
        long left = end - System.nanoTime();
        while (left > 0
                && !stop.await(Duration.ofNanos(Math.min(left, LOOK.toNanos())))
                && !watch.isIdle(compilers.getTotalCompilationTime())) {
            left = end - System.nanoTime();
        }
    }

    /** A server of this process's own, for requests of its own. */
    public interface AskedServer extends AutoCloseable {
        /** Where it speaks HTTP: a Unix socket. */
        SocketAddress http();

        /** Where it speaks gRPC: a Unix socket. */
        SocketAddress grpc();

        /** Ends it, and gives all its memory back. */
        @Override
        void close();

        /** Starts such a server. */
        @FunctionalInterface
        interface Opener {
            /** Serves the models. {@code sockets} is a folder for Unix sockets that only this user can enter. */
            AskedServer open(Path repository, Path sockets) throws IOException;
        }
    }
}
