package gatun.runtime.scheduling;

import org.jspecify.annotations.Nullable;

/** The sequences of an instance that have nothing to do, the one that has been idle for longest first. Linked through the sequences. */
final class SequenceList {
    private @Nullable Sequence first;
    private @Nullable Sequence last;

    @Nullable
    Sequence first() {
        return first;
    }

    /** Appends a sequence that is in no list. */
    void add(Sequence sequence) {
        sequence.earlier = last;
        if (last == null) {
            first = sequence;
        } else {
            last.later = sequence;
        }
        last = sequence;
    }

    /** Takes a sequence of this list out. */
    void remove(Sequence sequence) {
        Sequence earlier = sequence.earlier;
        Sequence later = sequence.later;
        if (earlier == null) {
            first = later;
        } else {
            earlier.later = later;
        }
        if (later == null) {
            last = earlier;
        } else {
            later.earlier = earlier;
        }
        sequence.earlier = null;
        sequence.later = null;
    }
}
