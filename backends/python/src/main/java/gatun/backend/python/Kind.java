// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

/** The kinds of frames, and what is in them by number. */
final class Kind {
    // From the server.
    static final int START = 1;
    static final int EXECUTE = 2;
    static final int RELEASE = 3;
    static final int RESULT = 4;
    static final int FINISH = 5;
    /** As {@link #EXECUTE}, for a thread that is bound to a core and has to unbind itself. */
    static final int EXECUTE_BOUND = 6;

    // From the worker.
    static final int STARTED = 1;
    static final int RAN = 2;
    static final int SEND = 3;
    static final int CALL = 4;
    static final int LOG = 5;
    static final int FREE = 6;
    static final int FINISHED = 7;

    // What a start is for.
    static final int SERVE = 0;
    static final int COMPLETE = 1;

    // What a result is.
    static final int NOTHING = 0;
    static final int VALUE = 1;
    static final int RESPONSE = 2;
    static final int ERROR = 3;

    private Kind() {}
}
