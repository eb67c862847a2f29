package gatun.memory;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a client's key names: a POSIX shared-memory object, or a descriptor of a process. Nothing else can be reached by a key. */
sealed interface RegionKey {
    /**
     * A POSIX object.
     *
     * @param path its name as {@code shm_open} takes it, with one leading slash
     */
    record PosixObject(String path) implements RegionKey {}

    /**
     * An open descriptor of another process.
     *
     * @param pid the process
     * @param path its entry in {@code /proc}
     */
    record ForeignDescriptor(long pid, String path) implements RegionKey {}

    /**
     * The object that {@code key} names.
     *
     * @throws GatunException INVALID_ARGUMENT for a key that names neither, or something that is not the client's to name
     */
    static RegionKey parse(String region, String key) {
        Matcher descriptor = Patterns.DESCRIPTOR.matcher(key);
        if (descriptor.matches()) {
            long pid = Long.parseLong(descriptor.group(1));
            if (pid == ProcessHandle.current().pid()) {
                throw GatunException.invalidArgument("cannot register shared memory region '" + region + "' with key '"
                        + key + "': expected a descriptor of the client's own process");
            }
            return new ForeignDescriptor(pid, key);
        }
        String name = key.startsWith("/") ? key.substring(1) : key;
        if (name.chars().allMatch(c -> c == '/')) {
            throw GatunException.invalidArgument(
                    "cannot register shared memory region '" + region + "' - invalid shm key '" + key + "'");
        }
        if (name.startsWith(Patterns.RESERVED)) {
            throw GatunException.invalidArgument("cannot register shared memory region '" + region + "' with key '"
                    + key + "' as the key contains the reserved prefix '" + Patterns.RESERVED + "'");
        }
        if (name.indexOf('/') >= 0 || name.contains("..") || name.equals(".") || name.indexOf('\0') >= 0) {
            throw GatunException.invalidArgument(
                    "cannot register shared memory region '" + region + "' - invalid shm key '"
                            + key
                            + "': expected the name of a POSIX shared memory object, without '/' but the first and without"
                            + " '..', or /proc/<pid>/fd/<n> for a sealed memfd");
        }
        if (name.length() > Patterns.MAX_NAME) {
            throw GatunException.invalidArgument("cannot register shared memory region '" + region + "': its key has "
                    + name.length() + " characters; expected at most " + Patterns.MAX_NAME);
        }
        return new PosixObject("/" + name);
    }

    /** What keys look like. */
    final class Patterns {
        private static final Pattern DESCRIPTOR = Pattern.compile("/proc/([1-9][0-9]{0,9})/fd/([0-9]{1,9})");
        /** Names of Triton's Python backend, which clients may not touch. */
        private static final String RESERVED = "triton_python_backend_shm_region_";
        /** NAME_MAX of Linux. */
        private static final int MAX_NAME = 255;

        private Patterns() {}
    }
}
