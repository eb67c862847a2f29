// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.frames;

/** A frame's subject. {@link #ANSWER} or {@link #FAILED} answers each question; others have none. */
public final class Kind {
    /** Question: start the engine of a name, with options. The answer tells of it and of its response memory. */
    public static final int START = 1;

    /** Question: complete a configuration. */
    public static final int COMPLETE = 3;

    /** Question: load a version. The answer describes it. */
    public static final int LOAD = 4;

    /** Question: make an instance, which takes its runs from a mailbox. */
    public static final int OPEN = 5;

    /** Question: close all instances and the model; the process ends then. */
    public static final int FINISH = 6;

    /** Blocks of response memory that are free again. */
    public static final int RELEASE = 7;

    /** The run of an instance is wanted no more. */
    public static final int STOP = 8;

    /** From the process: what a question asked for. */
    public static final int ANSWER = 1;

    /** From the process: why a question has no answer. */
    public static final int FAILED = 2;

    /** From the process, unasked: what the model's runs have taught. */
    public static final int LEARNED = 3;

    private Kind() {}
}
