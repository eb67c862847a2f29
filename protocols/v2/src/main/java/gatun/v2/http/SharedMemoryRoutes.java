// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.SystemRegionStatus;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.util.List;
import java.util.Optional;

/** Registration of system shared memory. Safe for any thread. */
final class SharedMemoryRoutes {
    private final RegionRegistry regions;
    private final boolean enabled;
    private final JsonBody jsonBody;

    SharedMemoryRoutes(RegionRegistry regions, boolean enabled, JsonBody jsonBody) {
        this.regions = regions;
        this.enabled = enabled;
        this.jsonBody = jsonBody;
    }

    /** Answers with one region, or with all where {@code name} is empty. */
    void status(Exchange exchange, String name) {
        List<SystemRegionStatus> listed = name.isEmpty()
                ? regions.statuses(SystemRegionStatus.class)
                : List.of(regions.status(name, SystemRegionStatus.class));
        JsonWriter json = exchange.json(JsonAnswer.HEADERS).raw('[');
        for (int i = 0; i < listed.size(); i++) {
            SystemRegionStatus region = listed.get(i);
            json.raw(i == 0 ? "{\"name\":" : ",{\"name\":").string(region.name());
            json.raw(",\"key\":").string(region.key());
            json.raw(",\"offset\":").unsigned(region.offset());
            json.raw(",\"byte_size\":").unsigned(region.byteSize()).raw('}');
        }
        JsonAnswer.send(exchange, json.raw(']'));
    }

    /** Registers the region that the body tells of. */
    void register(Exchange exchange, String name) {
        requireEnabled(enabled);
        if (name.isEmpty()) {
            throw GatunException.invalidArgument("'region name' is necessary to register system shared memory region");
        }
        Registration registration = new Registration();
        jsonBody.readControl(exchange, registration);
        String key = registration.key.orElseThrow(() -> lacks("key"));
        long byteSize = registration.byteSize.orElseThrow(() -> lacks("byte_size"));
        regions.register(name, key, registration.offset.orElse(0L), byteSize);
        JsonAnswer.sendEmpty(exchange);
    }

    /** Unregisters one region, or all where {@code name} is empty. */
    void unregister(Exchange exchange, String name) {
        requireEnabled(enabled);
        if (name.isEmpty()) {
            regions.unregisterAll(SystemRegionStatus.class);
        } else {
            regions.unregister(name, SystemRegionStatus.class);
        }
        JsonAnswer.sendEmpty(exchange);
    }

    /** @throws GatunException when clients may not register memory */
    static void requireEnabled(boolean enabled) {
        if (!enabled) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to enable.");
        }
    }

    /** The failure of a registration without one of its members. */
    static GatunException lacks(String field) {
        return GatunException.invalidArgument("Shared memory register request has no '" + field + "' field");
    }

    /** What a registration says; of a member that comes twice, the first counts. */
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
