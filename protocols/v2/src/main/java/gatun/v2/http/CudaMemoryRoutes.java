// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.memory.regions.CudaRegionStatus;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.tensor.GatunException;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * Registration of memory of GPUs. Clients ask also where they do not use it: before they register system shared memory they unregister
 * whatever there is of either kind. Safe for any thread.
 */
final class CudaMemoryRoutes {
    /** The size of a {@code cudaIpcMemHandle_t}. */
    private static final int HANDLE_BYTES = 64;

    private final RegionRegistry regions;
    private final boolean enabled;
    private final JsonBody jsonBody;

    CudaMemoryRoutes(RegionRegistry regions, boolean enabled, JsonBody jsonBody) {
        this.regions = regions;
        this.enabled = enabled;
        this.jsonBody = jsonBody;
    }

    /** Answers with one region, or with all where {@code name} is empty. */
    void status(Exchange exchange, String name) {
        List<CudaRegionStatus> listed = name.isEmpty()
                ? regions.statuses(CudaRegionStatus.class)
                : List.of(regions.status(name, CudaRegionStatus.class));
        JsonWriter json = exchange.json(JsonAnswer.HEADERS).raw('[');
        for (int i = 0; i < listed.size(); i++) {
            CudaRegionStatus region = listed.get(i);
            json.raw(i == 0 ? "{\"name\":" : ",{\"name\":").string(region.name());
            json.raw(",\"device_id\":").unsigned(region.device());
            json.raw(",\"byte_size\":").unsigned(region.byteSize()).raw('}');
        }
        JsonAnswer.send(exchange, json.raw(']'));
    }

    /** Registers the region that the body tells of. */
    void register(Exchange exchange, String name) {
        SharedMemoryRoutes.requireEnabled(enabled);
        if (name.isEmpty()) {
            throw GatunException.invalidArgument("'region name' is necessary to register cuda shared memory region");
        }
        regions.requireCuda(name);
        Registration registration = new Registration();
        jsonBody.readControl(exchange, registration);
        String handle = registration.handle.orElseThrow(() -> SharedMemoryRoutes.lacks("raw_handle"));
        long byteSize = registration.byteSize.orElseThrow(() -> SharedMemoryRoutes.lacks("byte_size"));
        long device = registration.device.orElseThrow(() -> SharedMemoryRoutes.lacks("device_id"));
        regions.registerCuda(name, decoded(handle), device, byteSize);
        JsonAnswer.sendEmpty(exchange);
    }

    /** Clients in C++ put line breaks into it. */
    private static byte[] decoded(String base64) {
        byte[] handle;
        try {
            handle = Base64.getMimeDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            handle = new byte[0];
        }
        if (handle.length != HANDLE_BYTES) {
            throw GatunException.invalidArgument("'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t");
        }
        return handle;
    }

    /** Unregisters one region, or all where {@code name} is empty. */
    void unregister(Exchange exchange, String name) {
        SharedMemoryRoutes.requireEnabled(enabled);
        if (name.isEmpty()) {
            regions.unregisterAll(CudaRegionStatus.class);
        } else {
            regions.unregister(name, CudaRegionStatus.class);
        }
        JsonAnswer.sendEmpty(exchange);
    }

    /** What a registration says; of a member that comes twice, the first counts. */
    private static final class Registration implements JsonBody.Members {
        private Optional<String> handle = Optional.empty();
        private Optional<Long> device = Optional.empty();
        private Optional<Long> byteSize = Optional.empty();

        @Override
        public void member(JsonReader json) {
            if (handle.isEmpty() && json.nameIs("raw_handle")) {
                handle = Optional.of(base64(json));
            } else if (device.isEmpty() && json.nameIs("device_id")) {
                device = Optional.of(json.readUnsigned(""));
            } else if (byteSize.isEmpty() && json.nameIs("byte_size")) {
                byteSize = Optional.of(json.readUnsigned(""));
            } else {
                json.skipValue();
            }
        }

        private static String base64(JsonReader json) {
            Optional<String> text = Optional.empty();
            json.enterObject("");
            while (json.nextMember()) {
                if (text.isEmpty() && json.nameIs("b64")) {
                    text = Optional.of(json.readString(""));
                } else {
                    json.skipValue();
                }
            }
            return text.orElseThrow(() -> JsonReader.missingMember("", "b64"));
        }
    }
}
