// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

/**
 * An instance that a model is to make.
 *
 * @param name its name, for threads and messages
 * @param instanceCount how many instances of the model share the machine, so that none takes all its cores
 * @param device where it runs
 * @param tuning gives tuners for what the engine may learn of the model's runs
 */
public record InstanceSpec(String name, int instanceCount, Device device, Tuning tuning) {
    /** An instance that learns nothing. */
    public InstanceSpec(String name, int instanceCount, Device device) {
        this(name, instanceCount, device, Tuning.OFF);
    }
}
