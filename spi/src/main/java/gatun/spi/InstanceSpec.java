// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

/**
 * An instance that a model is to make.
 *
 * @param name its name, for threads and messages
 * @param instanceCount how many instances of the model share the machine, so that none takes all its cores
 * @param device where it runs
 */
public record InstanceSpec(String name, int instanceCount, Device device) {}
