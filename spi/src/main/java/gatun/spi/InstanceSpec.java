// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

/**
 * An instance that a model is to make.
 *
 * @param name its name, for threads and messages
 * @param instanceCount how many instances of the model share the machine, so that none takes all its cores
 * @param processCount how many processes these are in, each as many as another
 * @param device where it runs
 * @param tuning gives tuners for what the engine may learn of the model's runs
 */
public record InstanceSpec(String name, int instanceCount, int processCount, Device device, Tuning tuning) {
    /** An instance in the process of the others. */
    public InstanceSpec(String name, int instanceCount, Device device, Tuning tuning) {
        this(name, instanceCount, 1, device, tuning);
    }

    /** As that, one that learns nothing. */
    public InstanceSpec(String name, int instanceCount, Device device) {
        this(name, instanceCount, device, Tuning.OFF);
    }

    /** The same where each instance has a process of its own. */
    public InstanceSpec inOwnProcess() {
        return new InstanceSpec(name, instanceCount, instanceCount, device, tuning);
    }
}
