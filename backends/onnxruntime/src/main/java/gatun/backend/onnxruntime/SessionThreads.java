// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The threads that a session has within an operator, and whether they look for work for a moment before they sleep.
 *
 * @param count threads, the one that calls included; one has no pool
 * @param entries session options of the engine, by their names, where the model's parameters do not say it
 */
record SessionThreads(int count, Map<String, String> entries) {
    private static final String SPINNING = "session.intra_op.allow_spinning";
    private static final String SPIN_DURATION = "session.intra_op.spin_duration_us";

    /**
     * For how long a thread without work looks for some, in microseconds. Between the operators of a run there mostly
     * is more within that time, and to wake a thread takes as long; an idle model's threads sleep. Longer ones gain
     * nothing, and take the cores from other models.
     */
    private static final String SPIN_MICROS = "50";

    /** The first library that knows how long to spin. Those before spin for tens of milliseconds, or not at all. */
    private static final int BOUNDED_SINCE_MINOR = 26;

    private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+).*");

    /** So many threads. {@code version} is the library's version, for instance {@code 1.29.0}. */
    static SessionThreads of(int count, String version) {
        Map<String, String> entries = new TreeMap<>();
        if (count > 1 && boundsSpinning(version)) {
            entries.put(SPINNING, "1");
            entries.put(SPIN_DURATION, SPIN_MICROS);
        } else {
            entries.put(SPINNING, "0");
        }
        return new SessionThreads(count, entries);
    }

    /** Describes for a reader how these threads wait for work. */
    String idleness() {
        return entries.containsKey(SPIN_DURATION)
                ? "they look for work for " + SPIN_MICROS + " us before they sleep"
                : "they sleep when they have no work";
    }

    private static boolean boundsSpinning(String version) {
        Matcher matcher = VERSION.matcher(version);
        if (!matcher.matches()) {
            return false;
        }
        int major = Integer.parseInt(matcher.group(1));
        return major > 1 || (major == 1 && Integer.parseInt(matcher.group(2)) >= BOUNDED_SINCE_MINOR);
    }

    /** Adds missing entries to {@code parameters}. Threads that spin by configuration are not bounded. */
    void addTo(Map<String, String> parameters) {
        if (!parameters.containsKey(SPINNING)) {
            entries.forEach(parameters::putIfAbsent);
        }
    }
}
