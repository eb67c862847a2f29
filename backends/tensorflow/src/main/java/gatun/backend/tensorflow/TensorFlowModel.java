// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.HeapTrimmer;
import gatun.memory.tensor.GatunException;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.EntryPoint;
import gatun.spi.InstanceSpec;
import gatun.wire.tensorflow.SignatureDef;
import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A loaded SavedModel. All instances run the same session, which has the weights and the state once. Owns the session.
 */
final class TensorFlowModel implements BackendModel {
    private final Session session;
    private final List<EntryPoint> entryPoints;
    private final Map<String, SignatureDef> signatures;
    private final Map<String, Function> functions = new HashMap<>();

    /** Where the functions have their arguments; read by all instances. */
    private final Arena arena = Arena.ofShared();

    /** @throws GatunException INVALID_ARGUMENT when a signature does not fit the graph; the session stays open then */
    TensorFlowModel(Session session, List<EntryPoint> entryPoints, SavedModelFile file) {
        this.session = session;
        this.entryPoints = entryPoints;
        signatures = Map.copyOf(file.signatures());
        try {
            for (EntryPoint entryPoint : entryPoints) {
                functions.put(
                        entryPoint.name(),
                        new Function(session, entryPoint, file.defaults(entryPoint.name()), file.operations(), arena));
            }
        } catch (RuntimeException | Error e) {
            functions.values().forEach(Function::close);
            arena.close();
            throw e;
        }
    }

    @Override
    public List<EntryPoint> entryPoints() {
        return entryPoints;
    }

    @Override
    public Map<String, SignatureDef> signatures() {
        return signatures;
    }

    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        return new TensorFlowInstance(session, functions);
    }

    @Override
    public void close() {
        functions.values().forEach(Function::close);
        session.close();
        arena.close();
        HeapTrimmer.OF_PROCESS.ask();
    }
}
