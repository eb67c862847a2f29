// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.ModelControl;
import gatun.client.ModelMetadata;
import gatun.client.RepositoryModel;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelStatistics;
import gatun.wire.inference.ModelStatisticsResponse;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A server's models over HTTP. */
final class HttpModelControl implements ModelControl {
    private final ControlCalls calls;

    HttpModelControl(ControlCalls calls) {
        this.calls = calls;
    }

    @Override
    public boolean ready(String model, String version) {
        try {
            return calls.getOnce(
                    Paths.model(model, version) + "/ready", body -> HttpServerControl.isTrue(body, "ready"));
        } catch (ServerException e) {
            if (e.code() == StatusCode.UNAUTHENTICATED || e.code() == StatusCode.PERMISSION_DENIED) {
                throw e;
            }
            return false;
        }
    }

    @Override
    public ModelMetadata metadata(String model, String version) {
        return calls.get(Paths.model(model, version), body -> {
            ControlJson.Fields found = ControlJson.object(body);
            return new ModelMetadata(
                    found.text("name"),
                    found.texts("versions"),
                    found.text("platform"),
                    specs(found.objects("inputs")),
                    specs(found.objects("outputs")));
        });
    }

    @Override
    public ModelConfig config(String model, String version) {
        return calls.get(
                Paths.model(model, version) + "/config",
                body -> ControlJson.message(body, ModelConfig.newBuilder()).build());
    }

    @Override
    public List<ModelStatistics> statistics(String model, String version) {
        String path = model.isEmpty() ? "/v2/models/stats" : Paths.model(model, version) + "/stats";
        return calls.get(path, body -> ControlJson.message(body, ModelStatisticsResponse.newBuilder())
                .build()
                .getModelStatsList());
    }

    @Override
    public List<RepositoryModel> index(boolean onlyReady) {
        try (GrowingBuffer wanted = ControlJson.object(json -> json.writeBooleanField("ready", onlyReady))) {
            return calls.ask("/v2/repository/index", wanted.bytes(), body -> {
                List<RepositoryModel> models = new ArrayList<>();
                for (ControlJson.Fields model : ControlJson.objects(body)) {
                    models.add(new RepositoryModel(
                            model.text("name"), model.text("version"), model.text("state"), model.text("reason")));
                }
                return models;
            });
        }
    }

    @Override
    public void load(String model, String config, Map<String, byte[]> files) {
        String path = Paths.repository(model) + "/load";
        if (config.isEmpty() && files.isEmpty()) {
            calls.act(path, MemorySegment.NULL, false);
            return;
        }
        try (GrowingBuffer parameters = ControlJson.object(json -> {
            json.writeObjectFieldStart("parameters");
            if (!config.isEmpty()) {
                json.writeStringField("config", config);
            }
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                json.writeBinaryField("file:" + file.getKey(), file.getValue());
            }
            json.writeEndObject();
        })) {
            calls.act(path, parameters.bytes(), false);
        }
    }

    @Override
    public void unload(String model, boolean dependents) {
        String path = Paths.repository(model) + "/unload";
        if (!dependents) {
            calls.act(path, MemorySegment.NULL, false);
            return;
        }
        try (GrowingBuffer parameters = ControlJson.object(json -> {
            json.writeObjectFieldStart("parameters");
            json.writeBooleanField("unload_dependents", true);
            json.writeEndObject();
        })) {
            calls.act(path, parameters.bytes(), false);
        }
    }

    private static List<TensorSpec> specs(List<ControlJson.Fields> tensors) {
        List<TensorSpec> specs = new ArrayList<>(tensors.size());
        for (ControlJson.Fields tensor : tensors) {
            specs.add(new TensorSpec(
                    tensor.text("name"), Datatype.of(tensor.text("datatype")), Shape.of(tensor.numbers("shape"))));
        }
        return specs;
    }
}
