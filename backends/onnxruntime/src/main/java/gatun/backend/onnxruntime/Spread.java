// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

/** How a run is spread over the cores. */
enum Spread {
    /** At once, by the session that runs beside one another share. */
    ON_A_SHARE,

    /** The requests of a batch in parts side by side, by the session that they share. */
    IN_PARTS,

    /** At once, by the session of runs that have the machine to themselves. */
    ON_ALL_CORES
}
