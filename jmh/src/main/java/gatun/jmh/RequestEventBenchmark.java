// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.logging.AccessLog.RecordedLog;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What a listener and the server do for the event of a request, without the request itself. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RequestEventBenchmark {
    /** Without a recording; with one of other events; of requests above a threshold that none reaches; of each. */
    @Param({"none", "others", "threshold", "all"})
    public String recorded = "none";

    private final AccessLog log = new RecordedLog(AccessLog.OFF);
    private @Nullable Recording recording;

    /** Begins the recording. */
    @Setup
    public void start() {
        if (recorded.equals("none")) {
            return;
        }
        Recording started = new Recording();
        switch (recorded) {
            case "others" -> started.enable("jdk.GarbageCollection");
            case "threshold" -> started.enable("gatun.Request").withThreshold(Duration.ofMillis(10));
            default -> started.enable("gatun.Request").withoutThreshold();
        }
        started.start();
        recording = started;
    }

    /** Ends it. */
    @TearDown
    public void stop() {
        if (recording != null) {
            recording.close();
        }
    }

    /** As for one request over HTTP. */
    @Benchmark
    public boolean request() {
        AccessEntry entry = null;
        if (log.isOn()) {
            entry = AccessEntry.begin(log, "http", null, "POST /v2/models/simple/infer");
            entry.bind();
        }
        if (log.isOn()) {
            AccessEntry.noteModel("simple", "1");
        }
        boolean infers = log.isOn();
        if (entry != null) {
            AccessEntry.unbind();
            entry.byteSizes(205, 257);
            entry.end("200");
        }
        return infers;
    }
}
