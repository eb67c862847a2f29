// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.CudaRegion;
import gatun.client.RegionControl;
import gatun.client.SystemRegion;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A server's regions over HTTP. */
final class HttpRegionControl implements RegionControl {
    private static final String SYSTEM = "system";
    private static final String CUDA = "cuda";

    private final ControlCalls calls;

    HttpRegionControl(ControlCalls calls) {
        this.calls = calls;
    }

    @Override
    public void register(String name, String key, long offset, long byteSize) {
        try (GrowingBuffer region = ControlJson.object(json -> {
            json.writeStringField("key", key);
            json.writeNumberField("offset", offset);
            json.writeNumberField("byte_size", byteSize);
        })) {
            calls.act(Paths.region(SYSTEM, name) + "/register", region.bytes(), false);
        }
    }

    @Override
    public void registerCuda(String name, byte[] handle, int device, long byteSize) {
        try (GrowingBuffer region = ControlJson.object(json -> {
            json.writeObjectFieldStart("raw_handle");
            json.writeBinaryField("b64", handle);
            json.writeEndObject();
            json.writeNumberField("device_id", device);
            json.writeNumberField("byte_size", byteSize);
        })) {
            calls.act(Paths.region(CUDA, name) + "/register", region.bytes(), false);
        }
    }

    @Override
    public void unregister(String name) {
        unregisterAt(Paths.region(SYSTEM, name));
    }

    @Override
    public void unregisterCuda(String name) {
        unregisterAt(Paths.region(CUDA, name));
    }

    @Override
    public void unregisterAll() {
        unregisterAt(Paths.regions(SYSTEM));
    }

    @Override
    public void unregisterAllCuda() {
        unregisterAt(Paths.regions(CUDA));
    }

    @Override
    public List<SystemRegion> regions() {
        return calls.get(Paths.regions(SYSTEM) + "/status", body -> {
            List<SystemRegion> regions = new ArrayList<>();
            for (ControlJson.Fields region : ControlJson.objects(body)) {
                regions.add(new SystemRegion(
                        region.text("name"), region.text("key"), region.number("offset"), region.number("byte_size")));
            }
            return regions;
        });
    }

    @Override
    public List<CudaRegion> cudaRegions() {
        return calls.get(Paths.regions(CUDA) + "/status", body -> {
            List<CudaRegion> regions = new ArrayList<>();
            for (ControlJson.Fields region : ControlJson.objects(body)) {
                regions.add(
                        new CudaRegion(region.text("name"), region.number("device_id"), region.number("byte_size")));
            }
            return regions;
        });
    }

    /** A name that is unknown is no error, so that this may be done twice. */
    private void unregisterAt(String path) {
        calls.act(path + "/unregister", MemorySegment.NULL, true);
    }
}
