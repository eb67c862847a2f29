// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

/** How a run is spread over the cores. */
enum Spread {
    /** At once, by one core or by an instance's share of them. */
    ON_A_SHARE,

    /** The requests of a batch in parts side by side, each by a share. */
    IN_PARTS,

    /** At once, by all of them. */
    ON_ALL_CORES
}
