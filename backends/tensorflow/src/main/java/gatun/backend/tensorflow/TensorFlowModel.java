// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.Posix;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.EntryPoint;
import gatun.spi.InstanceSpec;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A loaded SavedModel. All instances run the same session, which has the weights and the state once. Owns the session.
 */
final class TensorFlowModel implements BackendModel {
    private final Session session;
    private final List<EntryPoint> entryPoints;
    private final Map<String, Function> functions;

    /** Where the functions have their arguments; read by all instances. */
    private final Arena arena = Arena.ofShared();

    TensorFlowModel(Session session, List<EntryPoint> entryPoints, Operations operations) {
        this.session = session;
        this.entryPoints = entryPoints;
        functions = entryPoints.stream()
                .collect(Collectors.toUnmodifiableMap(
                        EntryPoint::name, entryPoint -> new Function(session, entryPoint, operations, arena)));
    }

    @Override
    public List<EntryPoint> entryPoints() {
        return entryPoints;
    }

    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        return new TensorFlowInstance(session, functions);
    }

    @Override
    public void close() {
        session.close();
        arena.close();
        Posix.trimHeap();
    }
}
