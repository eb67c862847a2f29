// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.bindings.Errno;
import gatun.bindings.Posix;
import gatun.bindings.SystemCallException;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;

/**
 * The errors for regions that cannot be registered or used, in the words of the v2 protocol's reference implementation.
 * As there, an object that cannot be opened is an internal error, mostly since the server does not see the client's
 * objects; a client's other mistakes are not, though some are there.
 */
final class RegionErrors {
    private RegionErrors() {}

    // Use

    static GatunException unknown(String name) {
        return new GatunException(ErrorCode.NOT_FOUND, "Unable to find shared memory region: '" + name + "'");
    }

    static GatunException unknownStatus(String name, Class<? extends RegionStatus> kind, boolean ofOtherKind) {
        boolean cuda = kind == CudaRegionStatus.class;
        String asked = cuda ? "CUDA shared memory" : "system shared memory";
        String other = cuda ? "system shared memory" : "CUDA shared memory";
        return new GatunException(
                ErrorCode.NOT_FOUND,
                ofOtherKind
                        ? "The region named '" + name + "' is registered as " + other + ", not " + asked
                        : "Unable to find " + (cuda ? "cuda" : "system") + " shared memory region: '" + name + "'");
    }

    static GatunException offsetOutside(String name) {
        return GatunException.invalidArgument("Invalid offset for shared memory region: '" + name + "'");
    }

    static GatunException overflow(String name, long offset, long byteSize) {
        return GatunException.invalidArgument("Integer overflow detected: byte_size (" + Long.toUnsignedString(byteSize)
                + ") + offset (" + Long.toUnsignedString(offset)
                + ") exceeds maximum value (18446744073709551615) for region '" + name + "'");
    }

    static GatunException endOutside(String name) {
        return GatunException.invalidArgument("Invalid offset + byte size for shared memory region: '" + name + "'");
    }

    /** The object is shorter now than what was registered, and nothing was lost yet. */
    static GatunException shrunk(String name, long presentBytes, long neededBytes) {
        return GatunException.invalidArgument("shared memory region '" + name
                + "' was truncated by its owner: the object has " + presentBytes + " bytes, the region needs "
                + neededBytes + "; enlarge it again or unregister the region");
    }

    /** The object was truncated during a use, this one or an earlier one. */
    static GatunException broken(String name) {
        return GatunException.invalidArgument("shared memory region '" + name
                + "' was truncated by its owner while it was in use; unregister it and register it again");
    }

    static GatunException readOnly(String name) {
        return GatunException.invalidArgument("shared memory region '" + name
                + "' cannot hold outputs: the server may only read its object; give the server's user write permission"
                + " and do not seal it against writing");
    }

    // Registration

    static GatunException nameTaken(String name) {
        return new GatunException(ErrorCode.ALREADY_EXISTS, "shared memory region '" + name + "' already in manager");
    }

    static GatunException nameMissing() {
        return GatunException.invalidArgument("'region name' is necessary to register system shared memory region");
    }

    static GatunException cudaUnsupported(String name) {
        return GatunException.invalidArgument(
                "failed to register CUDA shared memory region: '" + name + "', GPUs not supported");
    }

    static GatunException cudaNameMissing() {
        return GatunException.invalidArgument("'region name' is necessary to register cuda shared memory region");
    }

    static GatunException handleLength(String name, int byteSize, int expected) {
        return cudaRefused("the handle of region '" + name + "' has " + byteSize + " bytes, expected the " + expected
                + " of a cudaIpcMemHandle_t");
    }

    static GatunException noSuchDevice(String name, long device, int count) {
        return cudaRefused("region '" + name + "' is to be on GPU " + device + ", expected 0 to " + (count - 1));
    }

    static GatunException emptyRegion(String name) {
        return cudaRefused("region '" + name + "' is to have 0 bytes, expected at least 1");
    }

    static GatunException outsideAllocation(String name, long byteSize, long allocated) {
        return cudaRefused("region '" + name + "' is to have " + Long.toUnsignedString(byteSize)
                + " bytes, expected at most the " + allocated + " of its allocation");
    }

    static GatunException handleRefused(String name, int device, String reason) {
        return cudaRefused("CUDA cannot open the handle of region '" + name + "' on GPU " + device + ": " + reason
                + "; expected memory of that GPU that another process, still running, allocated and has not freed");
    }

    /** The reference implementation gives only the beginning of this text, whatever was wrong. */
    private static GatunException cudaRefused(String why) {
        return GatunException.invalidArgument("failed to register shared memory region: invalid args: " + why);
    }

    static GatunException badKey(String name, String key) {
        return GatunException.invalidArgument(
                "cannot register shared memory region '" + name + "' - invalid shm key '" + key + "'");
    }

    static GatunException forbiddenKey(String name, String key) {
        return GatunException.invalidArgument(badKey(name, key).getMessage()
                + ": expected the name of a POSIX shared memory object of at most 255 characters, without '/' but the"
                + " first and without '..', or /proc/<pid>/fd/<n> for a sealed memfd");
    }

    static GatunException reservedKey(String name, String key) {
        return GatunException.invalidArgument("cannot register shared memory region '" + name + "' with key '" + key
                + "' as the key contains the reserved prefix '" + RegionKey.RESERVED_PREFIX + "'");
    }

    static GatunException cannotOpen(SystemRegionStatus status) {
        return new GatunException(ErrorCode.INTERNAL, "Unable to open shared memory region: '" + status.key() + "'");
    }

    /** The system refused to open the object; the cause decides whether it may do so later. */
    static GatunException cannotOpen(SystemRegionStatus status, SystemCallException cause) {
        boolean serverIsFull = cause.is(Errno.EMFILE) || cause.is(Errno.ENFILE) || cause.is(Errno.ENOMEM);
        return new GatunException(
                serverIsFull ? ErrorCode.UNAVAILABLE : ErrorCode.INTERNAL,
                "Unable to open shared memory region: '" + status.key() + "'",
                cause);
    }

    static GatunException ownDescriptor(SystemRegionStatus status) {
        return GatunException.invalidArgument(refused(status) + "expected a descriptor of the client's own process");
    }

    static GatunException notSealed(SystemRegionStatus status) {
        return GatunException.invalidArgument(
                refused(status) + "expected a memfd of the server's own user, sealed with F_SEAL_SHRINK");
    }

    static GatunException outsideObject(String name) {
        return GatunException.invalidArgument(failed(name) + "invalid args");
    }

    static GatunException noRoom(String name, long byteSize) {
        return new GatunException(
                ErrorCode.UNAVAILABLE,
                failed(name) + "its object has holes and there is no memory to fill its " + byteSize
                        + " bytes; write to the object first, enlarge the shared memory file system, or register less");
    }

    static GatunException cannotMap(String name, SystemCallException cause) {
        return new GatunException(
                ErrorCode.INVALID_ARGUMENT,
                failed(name) + "unable to process address space" + Posix.errorText(cause.errno()),
                cause);
    }

    static GatunException tooMany(String name, int limit) {
        return new GatunException(
                ErrorCode.UNAVAILABLE,
                failed(name) + "the server already holds " + limit + " regions; unregister those that are not needed");
    }

    static GatunException closed(String name) {
        return new GatunException(ErrorCode.UNAVAILABLE, failed(name) + "the server is stopping");
    }

    private static String failed(String name) {
        return "failed to register shared memory region '" + name + "': ";
    }

    private static String refused(SystemRegionStatus status) {
        return "cannot register shared memory region '" + status.name() + "' with key '" + status.key() + "': ";
    }
}
