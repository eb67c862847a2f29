// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.SystemRegionStatus;
import gatun.protocol.ClientRegions;
import java.util.Optional;

/** Registration of system shared memory. Safe for any thread. */
final class SharedMemoryRoutes extends RegionRoutes<SystemRegionStatus> {
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
