// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.tensor.GatunException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The object that a client's key names: POSIX shared memory or a process's descriptor; nothing else. */
sealed interface RegionKey {
    /** Names that begin so belong to the Python backend of Triton, and clients may not touch them. */
    String RESERVED_PREFIX = "triton_python_backend_shm_region_";

    Pattern DESCRIPTOR = Pattern.compile("/proc/([1-9][0-9]{0,9})/fd/([0-9]{1,9})");

    int NAME_LIMIT = 255;

    /** A POSIX object, whose {@code path} is its name as {@code shm_open} takes it, with one leading slash. */
    record PosixObject(String path) implements RegionKey {}

    /** An open descriptor of another process. */
    record ForeignDescriptor(long pid, String path) implements RegionKey {}

    /** Throws {@link GatunException} INVALID_ARGUMENT for a key of no kind, or not the client's to name. */
    static RegionKey parse(String region, String key) {
        Matcher descriptor = DESCRIPTOR.matcher(key);
        if (descriptor.matches()) {
            return new ForeignDescriptor(Long.parseLong(descriptor.group(1)), key);
        }
        if (key.chars().allMatch(c -> c == '/')) {
            throw RegionErrors.badKey(region, key);
        }
        if (key.replaceFirst("^/+", "").startsWith(RESERVED_PREFIX)) {
            throw RegionErrors.reservedKey(region, key);
        }
        String name = key.startsWith("/") ? key.substring(1) : key;
        // A zero byte would end the name early for C: another object would be opened than the one that was looked at.
        boolean climbs = name.indexOf('/') >= 0 || name.contains("..") || name.equals(".");
        if (climbs || name.indexOf('\0') >= 0 || name.length() > NAME_LIMIT) {
            throw RegionErrors.forbiddenKey(region, key);
        }
        return new PosixObject("/" + name);
    }
}
