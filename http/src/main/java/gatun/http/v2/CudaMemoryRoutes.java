package gatun.http.v2;

import gatun.http.connection.Exchange;
import gatun.memory.GatunException;
import gatun.memory.RegionRegistry;
import java.util.Optional;

/**
 * CUDA shared memory of a server without GPUs: there is none, and none can be registered. Clients ask also where they do not use it: before
 * they register system shared memory they unregister whatever there is of either kind. Safe for any thread.
 */
final class CudaMemoryRoutes {
    private static final String ROOT = "/v2/cudasharedmemory/";

    private final RegionRegistry regions;
    private final boolean enabled;

    /** Routes beside those of the regions that there are. */
    CudaMemoryRoutes(RegionRegistry regions, boolean enabled) {
        this.regions = regions;
        this.enabled = enabled;
    }

    /** Answers {@code /v2/cudasharedmemory[/region/<name>]/(status|register|unregister)}; false for other paths. */
    boolean answer(Exchange exchange, String path) {
        Optional<RegionPath> parsed = RegionPath.parse(path, ROOT);
        if (parsed.isEmpty()) {
            return false;
        }
        String name = parsed.get().name();
        switch (parsed.get().action()) {
            case "status" -> V2Routes.get(exchange, request -> status(request, name));
            case "register" -> V2Routes.post(exchange, request -> register(name));
            case "unregister" -> V2Routes.post(exchange, this::unregister);
            default -> {
                return false;
            }
        }
        return true;
    }

    private void status(Exchange exchange, String name) {
        if (!name.isEmpty()) {
            throw regions.noCudaRegion(name);
        }
        JsonAnswer.send(exchange, exchange.json().raw('[').raw(']'));
    }

    private void register(String name) {
        SharedMemoryRoutes.requireEnabled(enabled);
        if (name.isEmpty()) {
            throw GatunException.invalidArgument("'region name' is necessary to register cuda shared memory region");
        }
        throw GatunException.invalidArgument(
                "failed to register CUDA shared memory region: '" + name + "', GPUs not supported");
    }

    private void unregister(Exchange exchange) {
        SharedMemoryRoutes.requireEnabled(enabled);
        JsonAnswer.sendEmpty(exchange);
    }
}
