// SPDX-License-Identifier: Apache-2.0
package gatun.memory.lane;

/** Offsets in a slot, little endian. Client writes requests, server answers; the state tells whose turn. */
public final class SlotLayout {
    /** The state, 32 bits: one of {@link SlotState}. Who waits for the answer sleeps on this word. */
    public static final long STATE = 0;
    /** Whether a client sleeps, or is about to, 32 bits. */
    public static final long CLIENT_ASLEEP = 4;

    /** Where the request's numbers begin, up to {@link #ANSWER}; 64-bit words. */
    public static final long REQUEST = 64;
    /** The number of the prepared request, 32 bits. */
    public static final long PREPARED = REQUEST;
    /** {@link #SEQUENCE_START}, {@link #SEQUENCE_END} and {@link #SEQUENCE_TEXT}, 32 bits. */
    public static final long FLAGS = REQUEST + 4;
    /** The sequence's number, 64 bits; 0 for none. */
    public static final long SEQUENCE = REQUEST + 8;
    /** When the client stops waiting, by CLOCK_MONOTONIC in nanoseconds, 64 bits; 0 for never. */
    public static final long DEADLINE = REQUEST + 16;
    /** Bytes of the request's id, 32 bits; it begins at {@link #REQUEST_TEXT}. */
    public static final long ID_BYTES = REQUEST + 24;
    /** Bytes of the sequence's name, 32 bits; it follows the id. */
    public static final long SEQUENCE_BYTES = REQUEST + 28;
    /**
     * The core that the client submits from, counted from 1, where it hands that core over while it waits, 32 bits; 0
     * where it sleeps or spins. The server may answer from there, and need not.
     */
    public static final long CALLER_CORE = REQUEST + 32;

    /** Where the answer's numbers begin. */
    public static final long ANSWER = 128;
    /** 0, or the number of an error, 32 bits: those of gRPC. */
    public static final long CODE = ANSWER;
    /** How many of the outputs this answer has, 32 bits. */
    public static final long OUTPUTS = ANSWER + 4;
    /** The version that answered, 64 bits. */
    public static final long VERSION = ANSWER + 8;
    /** How long the request was with the server, in nanoseconds, 64 bits. */
    public static final long SERVER_NANOS = ANSWER + 16;
    /** How long an engine worked for it, in nanoseconds, 64 bits. */
    public static final long ENGINE_NANOS = ANSWER + 24;
    /** Bytes of the error's text, or of the parameters, 32 bits; they begin at {@link #ANSWER_TEXT}. */
    public static final long ANSWER_BYTES = ANSWER + 32;

    /** The request's texts. */
    public static final long REQUEST_TEXT = 192;
    /** Room for the request's texts, in bytes. */
    public static final int REQUEST_TEXT_BYTES = 256;
    /** The answer's text. */
    public static final long ANSWER_TEXT = REQUEST_TEXT + REQUEST_TEXT_BYTES;
    /** Room for the answer's text, in bytes. */
    public static final int ANSWER_TEXT_BYTES = 832;

    /** The tensors: the inputs and then the outputs, in the order of the prepared request. */
    public static final long TENSORS = ANSWER_TEXT + ANSWER_TEXT_BYTES;
    /** Bytes for each tensor. */
    public static final long TENSOR_BYTES = 128;
    /** The region, 32 bits: 0 for the lane's own data, otherwise the prepared request's, counted from 1. */
    public static final long REGION = 0;
    /** The number of dimensions, 32 bits; of an output in the answer {@link #ABSENT} where it has none. */
    public static final long RANK = 4;
    /** Where the tensor begins in its region, 64 bits. */
    public static final long OFFSET = 8;
    /** The input's size, or the output's room, in bytes, 64 bits. */
    public static final long BYTE_SIZE = 16;
    /** The dimensions, 64 bits each. */
    public static final long DIMS = 24;
    /** In the answer, the output's size in bytes, 64 bits. */
    public static final long WRITTEN_BYTES = 88;
    /** In the answer, the output's datatype, 32 bits: see {@link LaneDatatypes}. */
    public static final long DATATYPE = 96;

    /** The most dimensions of a tensor. */
    public static final int MAX_RANK = 8;
    /** Rank of an output that an answer does not have. */
    public static final int ABSENT = -1;

    /** Flag: the first request of its sequence. */
    public static final int SEQUENCE_START = 1;
    /** Flag: the last request of its sequence. */
    public static final int SEQUENCE_END = 2;
    /** Flag: the sequence has a name instead of a number. */
    public static final int SEQUENCE_TEXT = 4;

    private SlotLayout() {}

    /** Whose turn it is with a slot. The server writes these and believes none of them. */
    public static final class SlotState {
        /** The client's: nothing is under way. */
        public static final int FREE = 0;
        /** The server's: it has a request, or was told to go on. */
        public static final int FILLED = 1;
        /** The client's: the last answer is there. */
        public static final int DONE = 2;
        /** The client's: an answer is there, and more may follow when it says so. */
        public static final int MORE = 3;
        /** The client's: the connection to the server ended before an answer. Only the client writes it. */
        public static final int LOST = 4;

        private SlotState() {}
    }
}
