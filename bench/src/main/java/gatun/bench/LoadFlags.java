// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import gatun.bench.load.Distribution;
import gatun.bench.load.Load;
import gatun.bench.load.Measurement.MeasurementPlan;
import gatun.bench.load.StoppingRule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import picocli.CommandLine.Option;

/** The flags that say how many requests a server gets, and for how long. */
final class LoadFlags {
    private static final int DEFAULT_MAX_THREADS = 64;
    private static final int DEFAULT_MAX_TRIALS = 10;

    @Option(
            names = {"-t", "--concurrency", "--concurrency-range"},
            paramLabel = "N,...|START:END:STEP",
            converter = FlagValue.Concurrencies.class,
            description = "So many requests are under way at any time (closed loop). (1)")
    List<Integer> concurrencies = List.of();

    @Option(
            names = {"--request-rate", "--request-rate-range"},
            paramLabel = "N,...|START:END:STEP",
            converter = FlagValue.Rates.class,
            description = "So many requests per second are sent, whether or not earlier ones were answered (open loop);"
                    + " latencies count from when a request was due.")
    List<Double> rates = List.of();

    @Option(
            names = {"--distribution", "--request-distribution"},
            paramLabel = "poisson|constant",
            converter = FlagValue.DistributionName.class,
            description = "The gaps between the requests of --request-rate. (poisson)")
    Distribution distribution = Distribution.POISSON;

    @Option(
            names = "--max-threads",
            paramLabel = "N",
            converter = FlagValue.Count.class,
            description = "So many requests of --request-rate can be under way. (64)")
    int maxThreads = DEFAULT_MAX_THREADS;

    @Option(
            names = {"-p", "--measurement-interval"},
            paramLabel = "TIME",
            converter = FlagValue.Time.class,
            description = "How long a window of the measurement is. (2s)")
    Duration interval = Duration.ofSeconds(2);

    @Option(
            names = "--warm-up",
            paramLabel = "TIME",
            converter = FlagValue.Time.class,
            description = "Requests are made so long before they count. (1s)")
    Duration warmUp = Duration.ofSeconds(1);

    @Option(
            names = {"-s", "--stability", "--stability-percentage"},
            paramLabel = "PERCENT",
            converter = FlagValue.Percent.class,
            description =
                    "A load is measured until the throughput and latency of three windows differ from their mean by no"
                            + " more. (10%%)")
    double stability = 0.1;

    @Option(
            names = {"-r", "--max-trials"},
            paramLabel = "N",
            converter = FlagValue.Count.class,
            description = "A load is measured for so many windows at most. (10)")
    int maxTrials = DEFAULT_MAX_TRIALS;

    @Option(
            names = "--percentile",
            paramLabel = "P",
            converter = FlagValue.Percentile.class,
            description = "The percentile of the latency that --stability and --latency-limit look at. (the average)")
    Optional<Double> percentile = Optional.empty();

    @Option(
            names = {"-l", "--latency-limit", "--latency-threshold"},
            paramLabel = "TIME",
            converter = FlagValue.Time.class,
            description = "After a load whose latency is above that, no greater ones are tried.")
    Optional<Duration> latencyLimit = Optional.empty();

    @Option(names = "--seed", paramLabel = "N", description = "Of random data and of the send times. (1)")
    long seed = 1;

    /** The loads in the order they are tried. */
    List<Load> loads() {
        List<Load> loads = new ArrayList<>();
        concurrencies.forEach(requests -> loads.add(new Load.Concurrency(requests)));
        rates.forEach(perSecond -> loads.add(new Load.RequestRate(perSecond, distribution)));
        if (loads.isEmpty()) {
            loads.add(new Load.Concurrency(1));
        }
        return loads;
    }

    /** The latency that counts; empty for the average. */
    OptionalDouble countingPercentile() {
        return percentile.map(OptionalDouble::of).orElseGet(OptionalDouble::empty);
    }

    /** The rule that says when enough was measured. */
    StoppingRule rule() {
        return new StoppingRule(stability, countingPercentile(), maxTrials);
    }

    MeasurementPlan plan() {
        return new MeasurementPlan(warmUp, interval, rule(), maxThreads, seed);
    }
}
