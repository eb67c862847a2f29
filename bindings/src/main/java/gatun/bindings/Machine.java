// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.posix.posix_h;

/**
 * The kinds of processors that Gatun runs on, with what Linux numbers and arranges differently on them. The generated
 * classes of {@code gatun.bindings.posix} are those of x86-64; everything else in them holds for both. What they say of
 * {@code struct stat} stands here as numbers, since to load its class takes a twentieth of a second of each start.
 */
public enum Machine {
    /** Intel's and AMD's processors of 64 bits. */
    X86_64("x86_64", posix_h.SYS_futex(), posix_h.O_NOFOLLOW(), 24, 28, 4),
    /** Arm's processors of 64 bits. */
    AARCH64("aarch64", 98, 0x8000, 16, 24, 8);

    private final String linuxName;
    private final long futexNumber;
    private final int noFollow;
    private final long modeOffset;
    private final long uidOffset;
    private final long epollDataOffset;

    Machine(String linuxName, long futexNumber, int noFollow, long modeOffset, long uidOffset, long epollDataOffset) {
        this.linuxName = linuxName;
        this.futexNumber = futexNumber;
        this.noFollow = noFollow;
        this.modeOffset = modeOffset;
        this.uidOffset = uidOffset;
        this.epollDataOffset = epollDataOffset;
    }

    /**
     * The one that this is.
     *
     * @throws UnsupportedOperationException when it is another: system calls by wrong numbers could do anything
     */
    public static Machine current() {
        String name = System.getProperty("os.arch", "");
        return switch (name) {
            case "amd64", "x86_64" -> X86_64;
            case "aarch64" -> AARCH64;
            default ->
                throw new UnsupportedOperationException("Gatun's system calls are those of Linux on x86_64 and aarch64;"
                        + " this JVM runs on '" + name + "': use a machine of one of these");
        };
    }

    /** Its name, as {@code uname -m} says it. */
    String linuxName() {
        return linuxName;
    }

    /** {@code SYS_futex}. */
    long futexNumber() {
        return futexNumber;
    }

    /** {@code O_NOFOLLOW}. */
    int noFollow() {
        return noFollow;
    }

    /** Where {@code st_mode} is in {@code struct stat}, which is nowhere larger than on x86-64. */
    long modeOffset() {
        return modeOffset;
    }

    long uidOffset() {
        return uidOffset;
    }

    /** Where {@code data} is in {@code struct epoll_event}, which is packed on x86-64 alone. */
    public long epollDataOffset() {
        return epollDataOffset;
    }
}
