package gatun.runtime.execution;

import gatun.memory.Datatype;
import gatun.memory.Shape;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a model answers as one output.
 *
 * @param backendDims the dimensions that the backend gives, without the batch dimension
 * @param reshape what the client gets instead of the backend's dimensions; null for those themselves
 * @param labels the names of its classes, by index; empty when it has none
 */
record OutputRule(
        String name,
        Datatype datatype,
        Shape backendDims,
        @Nullable Reshape reshape,
        List<String> labels) {}
