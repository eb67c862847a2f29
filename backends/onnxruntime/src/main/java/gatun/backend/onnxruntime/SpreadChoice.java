// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.memory.tuning.Tuner;
import gatun.memory.tuning.Tuner.Trials;
import gatun.spi.Tuning;
import gatun.spi.Tuning.Subject;
import java.util.List;

/**
 * Learns by which {@link Spread} an instance's runs are over soonest. Runs of about the same size, and those that divide
 * and those that do not, have a tuner each. Used by one thread at a time.
 */
final class SpreadChoice {
    private static final List<Spread> DIVIDED = List.of(Spread.values());
    private static final List<Spread> WHOLE = List.of(Spread.ON_A_SHARE, Spread.ON_ALL_CORES);

    /** Sizes from one power of two to the next have a tuner of their own. */
    private static final int SIZES = Long.SIZE;

    private final Tuning tuning;
    private final Tuner[] whole = new Tuner[SIZES];
    private final Tuner[] divided = new Tuner[SIZES];

    SpreadChoice(Tuning tuning) {
        this.tuning = tuning;
    }

    /** The spread for a run. Unless the run fails, {@link #took} follows. */
    Spread next(long byteSize, boolean divides) {
        return spreads(divides).get(tuner(byteSize, divides).way());
    }

    /** The last run that {@link #next} was asked for took so long. */
    void took(long byteSize, boolean divides, long nanos) {
        // Runs of one tuner differ in size by up to a factor of two, and their times are nearly proportional to it.
        tuner(byteSize, divides).took((double) nanos, (double) Math.max(1, byteSize));
    }

    private static List<Spread> spreads(boolean divides) {
        return divides ? DIVIDED : WHOLE;
    }

    private Tuner tuner(long byteSize, boolean divides) {
        Tuner[] tuners = divides ? divided : whole;
        int index = SIZES - 1 - Long.numberOfLeadingZeros(Math.max(1, byteSize));
        if (tuners[index] == null) {
            List<Spread> spreads = spreads(divides);
            tuners[index] = tuning.tuner(
                    Subject.SPREAD,
                    spreads.stream().map(Spread::text).toList(),
                    new Trials(spreads.size(), spreads.indexOf(Spread.ON_ALL_CORES), 2, 1));
        }
        return tuners[index];
    }

    /** How a run is spread over the cores; what takes fewer threads comes first. */
    enum Spread {
        /** At once, by the session that runs beside one another share. */
        ON_A_SHARE("on fewer threads"),

        /** The requests of a batch in parts side by side, by the session that they share. */
        IN_PARTS("batches in parts side by side"),

        /** At once, by the session of runs that have the machine to themselves. */
        ON_ALL_CORES("on all cores");

        private final String text;

        Spread(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }
}
