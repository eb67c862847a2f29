// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A session's threads per operator, the caller included, and its option entries unless parameters have them. */
record SessionThreads(int count, Map<String, String> entries) {
    private static final String SPINNING = "session.intra_op.allow_spinning";
    private static final String SPIN_DURATION = "session.intra_op.spin_duration_us";

    /**
     * Microseconds for which an idle thread looks for work: between operators there mostly is some within them, and
     * waking takes as long. Longer gains nothing and takes the cores from other models.
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
