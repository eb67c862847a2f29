// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.tensorflow.tensorflow_h;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Set;

/** Owns a {@code TF_Session} of a SavedModel. Thread-safe; closed once, after the last run. */
final class Session implements AutoCloseable {
    private final MemorySegment handle;
    private final MemorySegment graph;

    private Session(MemorySegment handle, MemorySegment graph) {
        this.handle = handle;
        this.graph = graph;
    }

    /** Loads a SavedModel: restores variables and assets, runs its initialiser. Throws when the engine cannot. */
    static Session open(Path directory, Set<String> tags, byte[] options, String model) {
        MemorySegment graph = tensorflow_h.TF_NewGraph();
        MemorySegment sessionOptions = tensorflow_h.TF_NewSessionOptions();
        try (Arena scratch = Arena.ofConfined();
                Status status = new Status()) {
            MemorySegment config = scratch.allocate(Math.max(1, options.length));
            MemorySegment.copy(options, 0, config, ValueLayout.JAVA_BYTE, 0, options.length);
            tensorflow_h.TF_SetConfig(sessionOptions, config, options.length, status.handle());
            status.check("model '" + model + "': TensorFlow refuses its session options");
            MemorySegment tagArray = scratch.allocate(ValueLayout.ADDRESS, tags.size());
            int tagCount = 0;
            for (String tag : tags) {
                tagArray.setAtIndex(ValueLayout.ADDRESS, tagCount++, scratch.allocateFrom(tag));
            }
            MemorySegment handle = tensorflow_h.TF_LoadSessionFromSavedModel(
                    sessionOptions,
                    MemorySegment.NULL,
                    scratch.allocateFrom(directory.toString()),
                    tagArray,
                    tagCount,
                    graph,
                    MemorySegment.NULL,
                    status.handle());
            checkLoaded(status, directory, model);
            return new Session(handle, graph);
        } catch (RuntimeException | Error e) {
            tensorflow_h.TF_DeleteGraph(graph);
            throw e;
        } finally {
            tensorflow_h.TF_DeleteSessionOptions(sessionOptions);
        }
    }

    /** Throws without the name of a folder of this machine, since clients see why a model is not ready. */
    private static void checkLoaded(Status status, Path directory, String model) {
        try {
            status.check("model '" + model + "': TensorFlow cannot load it");
        } catch (GatunException e) {
            throw new GatunException(ErrorCode.INVALID_ARGUMENT, e.getMessage().replace(directory + "/", ""), e);
        }
    }

    MemorySegment handle() {
        return handle;
    }

    /** The operation of this name in the graph. Throws {@link GatunException} INVALID_ARGUMENT when there is none. */
    MemorySegment operation(String name) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment operation = tensorflow_h.TF_GraphOperationByName(graph, scratch.allocateFrom(name));
            if (operation.address() == 0) {
                throw GatunException.invalidArgument(
                        "a signature names the operation '" + name + "', which the model's graph does not have");
            }
            return operation;
        }
    }

    @Override
    public void close() {
        try (Status status = new Status()) {
            tensorflow_h.TF_CloseSession(handle, status.handle());
            tensorflow_h.TF_DeleteSession(handle, status.handle());
        }
        tensorflow_h.TF_DeleteGraph(graph);
    }
}
