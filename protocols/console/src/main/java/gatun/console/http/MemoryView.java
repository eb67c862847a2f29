// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.http.json.JsonWriter;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.CudaRegionStatus;
import gatun.memory.regions.RegionUse;
import gatun.memory.regions.SystemRegionStatus;
import gatun.protocol.ServerSurroundings;
import gatun.runtime.server.ServerResources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** The memory of requests, and that of clients. Safe for any thread. */
final class MemoryView {
    private final ServerResources server;
    private final ServerSurroundings surroundings;

    MemoryView(ServerResources server, ServerSurroundings surroundings) {
        this.server = server;
        this.surroundings = surroundings;
    }

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

    /** The user of a process, as far as the system tells: it may have ended. */
    static final class ProcessOwner {
        private static final int NAME_LIMIT = 64;

        private ProcessOwner() {}

        static void write(JsonText json, long pid) {
            json.object("owner").member("pid", pid);
            ProcessHandle.of(pid)
                    .flatMap(process -> process.info().user())
                    .ifPresent(user -> json.member("user", user));
            name(pid).ifPresent(name -> json.member("name", name));
            json.endObject();
        }

        private static Optional<String> name(long pid) {
            try {
                String name =
                        Files.readString(Path.of("/proc/" + pid + "/comm")).strip();
                return Optional.of(name.length() <= NAME_LIMIT ? name : name.substring(0, NAME_LIMIT));
            } catch (IOException | IllegalArgumentException notTold) {
                return Optional.empty(); // it has ended, or its name is no text
            }
        }
    }

    /** The user of a named object of shared memory. Which process made it, nobody knows. */
    static final class ObjectOwner {
        /** Where the system shows such objects. */
        private static final Path FOLDER = Path.of("/dev/shm");

        private ObjectOwner() {}

        static void write(JsonText json, String key, long user) {
            json.object("owner")
                    .member("user", name(key, user).orElseGet(() -> Long.toString(user)))
                    .endObject();
        }

        /** The user's name, as the system tells it of the object; empty when that is another's now, or gone. */
        private static Optional<String> name(String key, long user) {
            try {
                Map<String, Object> attributes =
                        Files.readAttributes(FOLDER.resolve(key.replaceFirst("^/+", "")), "unix:uid,owner");
                return attributes.get("uid") instanceof Integer uid && Integer.toUnsignedLong(uid) == user
                        ? Optional.of(String.valueOf(attributes.get("owner")))
                        : Optional.empty();
            } catch (IOException | InvalidPathException | UnsupportedOperationException notTold) {
                return Optional.empty();
            }
        }
    }
}
