// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonFailure;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.memory.regions.CudaRegionStatus;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.RegionStatus;
import gatun.memory.regions.SystemRegionStatus;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import java.util.Base64;
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

    /** Registration of GPU memory; clients without GPUs call it, too, to unregister all. Thread-safe. */
    static final class CudaMemoryRoutes extends RegionRoutes<CudaRegionStatus> {
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
            CudaRegistration registration = new CudaRegistration();
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
        private static final class CudaRegistration implements JsonBody.Members {
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
}
