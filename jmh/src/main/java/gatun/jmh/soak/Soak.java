// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Loads the real server over every transport at 80 % of its capacity, while clients are killed, regions truncated,
 * requests cut off, models reloaded, and every attack of the table made. Checks every response; prints errors, latency
 * and what the server holds over time, and ends with 1 when a response was wrong or missing or when something grew.
 *
 * <p>Arguments: seconds (default 60), and a file for a picture (SVG), which may be left out.
 */
public final class Soak {
    private static final double LOAD = 0.8;
    private static final long WARM_SECONDS = 15;
    private static final long CALIBRATION_SECONDS = 10;
    private static final long SAMPLE_SECONDS = 10;
    private static final long ATTACK_PAUSE_MILLIS = 500;

    private final SoakServer server;
    private final Clients clients;
    private final List<Sample> samples = new ArrayList<>();
    private final List<String> complaints = new ArrayList<>();
    private long attacks;

    private Soak(SoakServer server, Clients clients) {
        this.server = server;
        this.clients = clients;
    }

    /** Runs the test. */
    public static void main(String[] arguments) throws Exception {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 60;
        Path root = Path.of(System.getProperty("gatun.root", "."));
        Path folder = Files.createTempDirectory("gatun-soak");
        boolean good;
        try (SoakServer server = SoakServer.start(root, folder);
                Clients clients = new Clients(server)) {
            Soak soak = new Soak(server, clients);
            good = soak.run(seconds);
            if (arguments.length > 1) {
                Picture.write(Path.of(arguments[1]), soak.samples);
            }
        }
        System.out.println("The server's log is " + folder.resolve("log"));
        System.exit(good ? 0 : 1);
    }

    private boolean run(long seconds) throws IOException, InterruptedException {
        clients.traffic().forEach(Traffic::start);
        TimeUnit.SECONDS.sleep(WARM_SECONDS);
        take();
        TimeUnit.SECONDS.sleep(CALIBRATION_SECONDS);
        pace();
        System.out.printf(
                "%8s %10s %7s %7s %9s %9s %8s %9s %6s %8s %8s%n",
                "seconds",
                "responses/s",
                "errors",
                "wrong",
                "p50, us",
                "p99, us",
                "heap,MiB",
                "RSS, MiB",
                "files",
                "threads",
                "attacks");
        long begun = System.nanoTime();
        long end = begun + TimeUnit.SECONDS.toNanos(seconds);
        Thread chaos = Thread.ofPlatform().name("soak-chaos").start(() -> attack(end));
        long next = begun;
        while (server.isAlive() && next < end) {
            next += TimeUnit.SECONDS.toNanos(SAMPLE_SECONDS);
            TimeUnit.NANOSECONDS.sleep(Math.max(0, next - System.nanoTime()));
            sample((System.nanoTime() - begun) / 1e9);
        }
        chaos.join();
        return verdict();
    }

    /** Has each client send at a share of the rate that it reached while all sent as fast as they could. */
    private void pace() {
        double perSecond = 0;
        for (Traffic one : clients.traffic()) {
            Traffic.Outcome outcome = one.take();
            double rate = Math.max(1, LOAD * outcome.nanos().getTotalCount() / CALIBRATION_SECONDS);
            perSecond += rate;
            one.pace((long) (1e9 / rate));
            System.out.printf(Locale.ROOT, "%-28s %8.0f requests a second from now on%n", one.name(), rate);
        }
        System.out.printf(Locale.ROOT, "%-28s %8.0f%n", "all", perSecond);
    }

    private List<Traffic.Outcome> take() {
        return clients.traffic().stream().map(Traffic::take).toList();
    }

    private void attack(long end) {
        try (Chaos chaos = new Chaos(server)) {
            while (System.nanoTime() < end && server.isAlive()) {
                String complaint = chaos.once();
                synchronized (complaints) {
                    attacks++;
                    if (!complaint.isEmpty()) {
                        complaints.add(complaint);
                    }
                }
                TimeUnit.MILLISECONDS.sleep(ATTACK_PAUSE_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void sample(double seconds) throws IOException, InterruptedException {
        if (!server.isAlive()) {
            return;
        }
        List<Traffic.Outcome> outcomes = take();
        Histogram nanos = new Histogram(3);
        outcomes.forEach(outcome -> nanos.add(outcome.nanos()));
        Sample sample = new Sample(
                seconds,
                nanos.getTotalCount() / SAMPLE_SECONDS,
                outcomes.stream().mapToLong(Traffic.Outcome::failed).sum(),
                outcomes.stream().mapToLong(Traffic.Outcome::wrong).sum(),
                nanos.getValueAtPercentile(50) / 1e3,
                nanos.getValueAtPercentile(99) / 1e3,
                server.vitals());
        samples.add(sample);
        synchronized (complaints) {
            System.out.printf(
                    Locale.ROOT,
                    "%8.0f %10d %7d %7d %9.0f %9.0f %8.1f %9.0f %6d %8d %8d%n",
                    sample.seconds(),
                    sample.answered(),
                    sample.errors(),
                    sample.wrong(),
                    sample.p50Micros(),
                    sample.p99Micros(),
                    sample.vitals().heapMib(),
                    sample.vitals().residentMib(),
                    sample.vitals().descriptors(),
                    sample.vitals().threads(),
                    attacks);
            complaints.forEach(System.out::println);
            complaints.clear();
        }
    }

    private boolean verdict() {
        long errors = samples.stream().mapToLong(Sample::errors).sum();
        long wrong = samples.stream().mapToLong(Sample::wrong).sum();
        long answered = samples.stream().mapToLong(Sample::answered).sum() * SAMPLE_SECONDS;
        List<String> grown = Growth.of(samples);
        System.out.printf(
                "%d requests answered rightly, %d wrongly, %d not; %d attacks; the server %s%n",
                answered, wrong, errors, attacks, server.isAlive() ? "lives" : "is DEAD");
        clients.traffic().stream()
                .filter(one -> !one.lastFailure().isEmpty())
                .forEach(one -> System.out.println(one.name() + ": " + one.lastFailure()));
        grown.forEach(line -> System.out.println("GROWN " + line));
        return errors == 0 && wrong == 0 && grown.isEmpty() && server.isAlive();
    }
}
