// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

/**
 * TensorFlow Serving's metrics.
 *
 * @param metrics where requests are counted
 * @param path where Prometheus finds them
 */
public record Monitoring(ServingMetrics metrics, String path) {}
