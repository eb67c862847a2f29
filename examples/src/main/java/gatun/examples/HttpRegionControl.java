// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;

/** Shared memory over HTTP. */
final class HttpRegionControl implements RegionControl {
    private final HttpConnection connection;

    HttpRegionControl(URI server) {
        connection = new HttpConnection(server);
    }

    @Override
    public void register(PictureMemory shared) {
        ObjectNode json = HttpConnection.JSON.createObjectNode();
        switch (shared) {
            case SharedPicture object -> json.put("key", object.key()).put("offset", 0);
            case CudaPicture gpu -> {
                json.putObject("raw_handle").put("b64", gpu.handleText());
                json.put("device_id", gpu.device());
            }
        }
        json.put("byte_size", PictureMemory.SIZE);
        connection.post(region(shared) + "/register", json);
    }

    private static String region(PictureMemory shared) {
        String kind =
                switch (shared) {
                    case SharedPicture object -> "system";
                    case CudaPicture gpu -> "cuda";
                };
        return "/v2/" + kind + "sharedmemory/region/" + shared.name();
    }

    @Override
    public void infer(PictureMemory shared) {
        InferBody body = new InferBody();
        place(body.input(), shared, PictureMemory.INPUT_OFFSET, PictureMemory.INPUT_SIZE);
        place(body.output(), shared, PictureMemory.OUTPUT_OFFSET, PictureMemory.OUTPUT_SIZE);
        connection.post(InferBody.PATH, body.json());
    }

    @Override
    public void unregister(PictureMemory shared) {
        connection.post(region(shared) + "/unregister", HttpConnection.JSON.createObjectNode());
    }

    @Override
    public void close() {
        connection.close();
    }

    private static void place(ObjectNode tensor, PictureMemory shared, long offset, long size) {
        tensor.putObject("parameters")
                .put("shared_memory_region", shared.name())
                .put("shared_memory_offset", offset)
                .put("shared_memory_byte_size", size);
    }
}
