// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

/** How a run is spread over the cores; what takes fewer threads comes first. */
enum Spread {
    /** At once, by one core or by an instance's share of them. */
    ON_A_SHARE("on a share of the cores"),

    /** The requests of a batch in parts side by side, each by a share. */
    IN_PARTS("batches in parts side by side"),

    /** At once, by all of them. */
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
