// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

/**
 * How far a measurement is.
 *
 * @param load the load on the server
 * @param window the number of the window that is measured, from 1; 0 for the warm-up
 * @param part how much of it has passed, from 0 to 1
 * @param previous the window before; an empty one in the first
 */
public record MeasurementProgress(Load load, int window, double part, Window previous) {}
