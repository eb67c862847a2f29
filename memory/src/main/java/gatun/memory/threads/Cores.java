// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.VMOption;
import gatun.bindings.ThreadCore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.function.BooleanSupplier;

/**
 * The cores that engines compute on. Pools of threads that compute are sized by them, since two threads that compute on
 * the logical processors of one core (SMT) are each half as fast. What mostly waits, such as carriers of virtual
 * threads, is sized by {@link Runtime#availableProcessors()}.
 */
public final class Cores {
    private static final Path TOPOLOGY = Path.of("/sys/devices/system/cpu");
    private static final String TOLD_COUNT = "ActiveProcessorCount";

    private Cores() {}

    /**
     * The threads that can compute at a time: physical cores of this process, within its container's quota. A count
     * told to the JVM ({@code -XX:ActiveProcessorCount}) is taken as theirs. The same for the process's life.
     */
    public static int physical() {
        return OfThisProcess.COUNT;
    }

    /** How many of these each of so many instances of a model has, which compute with threads of their own; at least one. */
    public static int share(int instances) {
        return Math.max(1, physical() / instances);
    }

    /** Counted when somebody asks. */
    private static final class OfThisProcess {
        static final int COUNT =
                count(TOPOLOGY, ThreadCore.allowed(), Runtime.getRuntime().availableProcessors(), Cores::isTold);

        private OfThisProcess() {}
    }

    /** Counts them; {@code allowed} is empty where unknown, {@code isTold} costs tens of ms and is asked last. */
    static int count(Path topology, BitSet allowed, int available, BooleanSupplier isTold) {
        int physical = (int) allowed.stream()
                .mapToObj(processor -> core(topology, processor))
                .distinct()
                .count();
        boolean mayBeLogical = available > physical && available <= allowed.cardinality();
        return mayBeLogical && !isTold.getAsBoolean() ? physical : available;
    }

    /** A name of the core that a logical processor is one of; of its own where Linux does not tell. */
    private static String core(Path topology, int processor) {
        try {
            return Files.readString(topology.resolve("cpu" + processor + "/topology/thread_siblings_list"));
        } catch (IOException e) {
            return "processor " + processor;
        }
    }

    private static boolean isTold() {
        VMOption option = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .getVMOption(TOLD_COUNT);
        return option.getOrigin() != VMOption.Origin.DEFAULT;
    }
}
