// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.RegionStatus;
import gatun.memory.regions.SystemRegionStatus;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import java.util.Optional;

/** Registration of shared memory of one kind. Safe for any thread. */
abstract class RegionRoutes<S extends RegionStatus> {
    private final ClientRegions regions;
    private final Class<S> kind;
    private final String kindName;

    RegionRoutes(ClientRegions regions, Class<S> kind, String kindName) {
        this.regions = regions;
        this.kind = kind;
        this.kindName = kindName;
    }

    /** Answers with one region, or with all where {@code name} is empty. */
    final void status(Exchange exchange, String name) {
        JsonWriter json = exchange.json(JsonResponse.HEADERS).raw('[');
        String separator = "{\"name\":";
        for (S region : regions.statuses(exchange.location(), name, kind)) {
            json.raw(separator).string(region.name());
            separator = ",{\"name\":";
            writeMembers(json, region);
            json.raw(",\"byte_size\":").unsigned(region.byteSize()).raw('}');
        }
        JsonResponse.send(exchange, json.raw(']'));
    }

    final void register(Exchange exchange, String name) {
        RegionRegistry open = regions.open(exchange.location());
        if (name.isEmpty()) {
            throw GatunException.invalidArgument(
                    "'region name' is necessary to register " + kindName + " shared memory region");
        }
        register(open, name, exchange);
        JsonResponse.sendEmpty(exchange);
    }

    /** Unregisters one region, or all where {@code name} is empty. */
    final void unregister(Exchange exchange, String name) {
        regions.unregister(exchange.location(), name, kind);
        JsonResponse.sendEmpty(exchange);
    }

    /** Writes the members that only regions of this kind have, each with a comma before it. */
    abstract void writeMembers(JsonWriter json, S region);

    /** Registers {@code name} with {@code open} as the body says. */
    abstract void register(RegionRegistry open, String name, Exchange exchange);

    static GatunException lacks(String field) {
        return GatunException.invalidArgument("Shared memory register request has no '" + field + "' field");
    }

    /** Registration of system shared memory. Safe for any thread. */
    static final class SharedMemoryRoutes extends RegionRoutes<SystemRegionStatus> {
        private final JsonBody jsonBody;

        SharedMemoryRoutes(ClientRegions regions, JsonBody jsonBody) {
            super(regions, SystemRegionStatus.class, "system");
            this.jsonBody = jsonBody;
        }

        @Override
        void writeMembers(JsonWriter json, SystemRegionStatus region) {
            json.raw(",\"key\":").string(region.key());
            json.raw(",\"offset\":").unsigned(region.offset());
        }

        @Override
        void register(RegionRegistry open, String name, Exchange exchange) {
            Registration registration = new Registration();
            jsonBody.readControl(exchange, registration);
            String key = registration.key.orElseThrow(() -> lacks("key"));
            long byteSize = registration.byteSize.orElseThrow(() -> lacks("byte_size"));
            open.register(name, key, registration.offset.orElse(0L), byteSize);
        }

        /** The members of a registration; of one that comes twice, the first counts. */
        private static final class Registration implements JsonBody.Members {
            private Optional<String> key = Optional.empty();
            private Optional<Long> offset = Optional.empty();
            private Optional<Long> byteSize = Optional.empty();

            @Override
            public void member(JsonReader json) {
                if (key.isEmpty() && json.nameIs("key")) {
                    key = Optional.of(json.readString(""));
                } else if (offset.isEmpty() && json.nameIs("offset")) {
                    offset = Optional.of(json.readUnsigned(""));
                } else if (byteSize.isEmpty() && json.nameIs("byte_size")) {
                    byteSize = Optional.of(json.readUnsigned(""));
                } else {
                    json.skipValue();
                }
            }
        }
    }
}
