// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

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

    /** What it is called, for people. */
    String text() {
        return text;
    }
}
