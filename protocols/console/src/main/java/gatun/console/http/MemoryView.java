// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.console.ServerSurroundings;
import gatun.http.json.JsonWriter;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.CudaRegionStatus;
import gatun.memory.regions.RegionUse;
import gatun.memory.regions.SystemRegionStatus;
import gatun.runtime.server.InferenceServer;

/** The memory of requests, and that of clients. Safe for any thread. */
final class MemoryView {
    private final InferenceServer server;
    private final ServerSurroundings surroundings;

    MemoryView(InferenceServer server, ServerSurroundings surroundings) {
        this.server = server;
        this.surroundings = surroundings;
    }

    /** Writes it as it is now. */
    void write(JsonWriter text) {
        write(text, true);
    }

    /** The same for clients that may not know the names of regions, which are all that it takes to use them. */
    void writeWithoutRegions(JsonWriter text) {
        write(text, false);
    }

    private void write(JsonWriter text, boolean withRegions) {
        JsonText json = new JsonText(text);
        BufferPool pool = server.buffers();
        json.object()
                .object("pool")
                .member("totalBytes", pool.byteLimit())
                .member("usedBytes", pool.usedBytes())
                .member("lockedBytes", pool.lockedUsedBytes())
                .endObject()
                .member("regionsHidden", !withRegions)
                .array("regions");
        if (withRegions) {
            server.regions().uses().forEach(use -> writeRegion(json, use));
        }
        json.endArray().array("lanes");
        for (ServerSurroundings.Lane lane : surroundings.lanes()) {
            json.object().member("id", lane.number());
            lane.owner().ifPresent(pid -> ProcessOwner.write(json, pid));
            json.member("byteSize", lane.byteSize())
                    .member("slots", lane.slots())
                    .member("inFlight", lane.inFlight())
                    .endObject();
        }
        json.endArray().endObject();
    }

    private static void writeRegion(JsonText json, RegionUse use) {
        json.object()
                .member("name", use.status().name())
                .member("byteSize", use.status().byteSize());
        switch (use.status()) {
            case SystemRegionStatus region ->
                json.member("kind", region.key().startsWith("/proc/") ? "memfd" : "posix")
                        .member("key", region.key())
                        .member("offset", region.offset());
            case CudaRegionStatus region ->
                json.member("kind", "cuda").member("device", region.device()).member("offset", 0);
        }
        if (use.owner().isPresent()) {
            ProcessOwner.write(json, use.owner().getAsLong());
        } else if (use.user().isPresent() && use.status() instanceof SystemRegionStatus region) {
            ObjectOwner.write(json, region.key(), use.user().getAsLong());
        }
        json.member("leases", use.leases()).member("retired", use.leaving());
        if (use.leaving()) {
            json.member(
                    "retiredReason",
                    "it was unregistered, and is unmapped when the " + use.leases()
                            + " requests that use it have ended");
        }
        json.endObject();
    }
}
