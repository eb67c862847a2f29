// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

/** Where an instance runs; {@code ordinal} is the number among devices of its kind, from 0. */
public record Device(Kind kind, int ordinal) {
    /** The cores of this machine, which all instances on it share. */
    public static final Device CPU = new Device(Kind.CPU, 0);

    /** The sorts of devices. */
    public enum Kind {
        /** The machine's own cores and memory. */
        CPU,
        /** A graphics card with memory of its own. */
        GPU
    }

    /** Refuses numbers below 0. */
    public Device {
        if (ordinal < 0) {
            throw new IllegalArgumentException("device " + kind + " has number " + ordinal + ", expected 0 or more");
        }
    }
}
