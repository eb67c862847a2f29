// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import gatun.memory.tensor.Tensor;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.runtime.tracing.TraceScope.TraceReaders;
import gatun.runtime.tracing.TraceSettings.TraceLevel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The trace of one request. Whoever began it ends it; events after that are lost. Safe for any thread. */
public final class RequestTrace {
    /** The parent of a trace that has none. */
    public static final long NO_PARENT = 0;

    private static final byte[] NO_BYTES = {};
    private static final long RELEASED = -1;

    private final Tracing tracing;
    private final TraceReaders readers;
    private final Set<TraceLevel> levels;
    private final long id;
    private final @Nullable RequestTrace parent;
    private final Optional<TraceParent> joined;
    private final String modelName;
    private final long modelVersion;
    /** The bytes of its tensors; {@link #RELEASED} when they are not held any more. */
    private final AtomicLong held = new AtomicLong();

    private final Queue<TraceEvent> events = new ConcurrentLinkedQueue<>();
    private final Queue<RequestTrace> children = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean ended = new AtomicBoolean();
    private volatile String requestId = "";

    /** The trace in the collector that this is a part of; chosen when somebody asks for it. Guarded by this. */
    private @Nullable String spansTraceId;

    private @Nullable TraceParent runSpan;

    RequestTrace(
            Tracing tracing,
            TraceReaders readers,
            @Nullable RequestTrace parent,
            Optional<TraceParent> joined,
            String modelName,
            long modelVersion) {
        this.tracing = tracing;
        this.readers = readers;
        this.levels = readers.levels();
        this.id = tracing.nextId();
        this.parent = parent;
        this.joined = joined;
        this.modelName = modelName;
        this.modelVersion = modelVersion;
    }

    /** The number of this trace; each has another. */
    public long id() {
        return id;
    }

    /** The trace of the request that this one was made for; {@link #NO_PARENT} for a client's request. */
    public long parentId() {
        return parent == null ? NO_PARENT : parent.id;
    }

    /** The client's trace that its request belongs to; empty for none, and for a request made for another. */
    public Optional<TraceParent> joined() {
        return joined;
    }

    /** The span that the request's run will have at the collector; empty where traces become no spans. */
    public synchronized Optional<TraceParent> nameRun() {
        if (!readers.exported() || !tracing.exportsSpans()) {
            return Optional.empty();
        }
        if (runSpan == null) {
            runSpan = new TraceParent(chooseTraceId(), TraceParent.randomDigits(16));
        }
        return Optional.of(runSpan);
    }

    private synchronized String chooseTraceId() {
        if (parent != null) {
            return parent.chooseTraceId();
        }
        String chosen = spansTraceId;
        if (chosen == null) {
            chosen = joined.map(TraceParent::traceId).orElseGet(() -> TraceParent.randomDigits(32));
            spansTraceId = chosen;
        }
        return chosen;
    }

    /** What {@link #nameRun} has given; empty when nobody has asked. */
    public synchronized Optional<TraceParent> namedRun() {
        return Optional.ofNullable(runSpan);
    }

    /** The trace that the spans of this and its children belong to; empty when nobody has asked for one of them. */
    public synchronized Optional<String> namedTrace() {
        return Optional.ofNullable(spansTraceId);
    }

    /** The traces of requests that were made for this one, in that order. They may not have ended when this one has. */
    public List<RequestTrace> children() {
        return List.copyOf(children);
    }

    /** The model that was asked. */
    public String modelName() {
        return modelName;
    }

    /** Its version. */
    public long modelVersion() {
        return modelVersion;
    }

    /** The client's name for the request; empty when it gave none. */
    public String requestId() {
        return requestId;
    }

    void requestId(String newId) {
        requestId = newId;
    }

    /** Whether the trace is exported; others are only shown to who observes all requests. */
    public boolean isExported() {
        return readers.exported();
    }

    /** The events so far that are exported, in their order. */
    public List<TraceEvent> events() {
        return levels.contains(TraceLevel.TIMESTAMPS)
                ? List.copyOf(events)
                : events.stream()
                        .filter(event -> !(event instanceof TraceEvent.Timestamp))
                        .toList();
    }

    /** When the request has reached stages so far, in the order in which it was said; exported or not. */
    public List<TraceEvent.Timestamp> timestamps() {
        return events.stream()
                .filter(TraceEvent.Timestamp.class::isInstance)
                .map(TraceEvent.Timestamp.class::cast)
                .toList();
    }

    TraceScope scope() {
        return readers.scope();
    }

    /** Says that the request has reached a stage now. */
    public void reached(TraceStage stage) {
        reached(stage, System.nanoTime());
    }

    /** Says when the request reached a stage. */
    public void reached(TraceStage stage, long nanos) {
        if (readers.observer() != null || levels.contains(TraceLevel.TIMESTAMPS)) {
            events.add(new TraceEvent.Timestamp(stage, nanos));
        }
    }

    /** Says that a backend tells something of its own, which happens now. */
    public void activity(String name) {
        if (levels.contains(TraceLevel.TIMESTAMPS)) {
            events.add(new TraceEvent.Activity(name, System.nanoTime()));
        }
    }

    /** Says that the server took the request over; empty without an id. Records inputs where settings want that. */
    public void started(String newId, Collection<Tensor> inputs) {
        requestId(newId);
        reached(TraceStage.REQUEST_START);
        inputs.forEach(input -> tensor("TENSOR_QUEUE_INPUT", input));
    }

    /** Records an output of a response, where the settings want that. */
    public void answered(Tensor output) {
        tensor("TENSOR_BACKEND_OUTPUT", output);
    }

    private void tensor(String activity, Tensor tensor) {
        if (levels.contains(TraceLevel.TENSORS) && tracing.tellsTensors()) {
            byte[] copy = claim(tensor.byteSize()) ? tensor.bytes().toArray(ValueLayout.JAVA_BYTE) : NO_BYTES;
            events.add(new TraceEvent.TensorData(activity, tensor.spec(), MemorySegment.ofArray(copy)));
        }
    }

    /** Reserves {@code bytes} more; false when they may not be held. {@link #release} gives them back. */
    private boolean claim(long bytes) {
        if (!tracing.memory().take(bytes)) {
            return false;
        }
        if (held.getAndUpdate(before -> before == RELEASED ? before : before + bytes) != RELEASED) {
            return true;
        }
        tracing.memory().giveBack(bytes);
        return false;
    }

    /** Gives back the memory of its tensors, and of its children's: they have been written, or never will be. */
    void release() {
        long before = held.getAndSet(RELEASED);
        if (before > 0) {
            tracing.memory().giveBack(before);
        }
        children.forEach(RequestTrace::release);
    }

    /** Whether the trace of the client's request has ended. */
    private boolean isOver() {
        return parent == null ? ended.get() : parent.isOver();
    }

    /** A trace of a request to another model that is made for this one. */
    public RequestTrace child(String model, long version) {
        RequestTrace child = new RequestTrace(tracing, readers, this, Optional.empty(), model, version);
        children.add(child);
        return child;
    }

    /** Sends a client's trace, with its children, to those who want it; only the first call does anything. */
    public void end() {
        if (!ended.compareAndSet(false, true)) {
            return;
        }
        if (parent == null) {
            Consumer<RequestTrace> observer = readers.observer();
            if (observer != null) {
                observer.accept(this);
            }
            if (readers.exported()) {
                tracing.export(this);
            }
        } else if (isOver()) {
            // Too late to be told with the client's request, and perhaps to be released with it.
            release();
        }
    }
}
