// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonFailure;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.memory.regions.CudaRegionStatus;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import java.util.Base64;
import java.util.Optional;

/**
 * Registration of GPU memory. Clients that do not use it call these routes too: before they register system shared
 * memory, they unregister all regions of both kinds. Safe for any thread.
 */
final class CudaMemoryRoutes extends RegionRoutes<CudaRegionStatus> {
    /** The size of a {@code cudaIpcMemHandle_t}. */
    private static final int HANDLE_BYTES = 64;

    private final JsonBody jsonBody;

    CudaMemoryRoutes(ClientRegions regions, JsonBody jsonBody) {
        super(regions, CudaRegionStatus.class, "cuda");
        this.jsonBody = jsonBody;
    }

    @Override
    void writeMembers(JsonWriter json, CudaRegionStatus region) {
        json.raw(",\"device_id\":").unsigned(region.device());
    }

    @Override
    void register(RegionRegistry open, String name, Exchange exchange) {
        open.requireCuda(name);
        Registration registration = new Registration();
        jsonBody.readControl(exchange, registration);
        String handle = registration.handle.orElseThrow(() -> lacks("raw_handle"));
        long byteSize = registration.byteSize.orElseThrow(() -> lacks("byte_size"));
        long device = registration.device.orElseThrow(() -> lacks("device_id"));
        open.registerCuda(name, decoded(handle), device, byteSize);
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

    /** The members of a registration; of one that comes twice, the first counts. */
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
            return text.orElseThrow(() -> JsonFailure.missingMember("", "b64"));
        }
    }
}
