// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormat;
import gatun.console.history.FailedRequest;
import gatun.console.history.Sampler;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.Latencies;
import gatun.runtime.ModelLatencies.StageLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.ModelVersion;
import gatun.runtime.ModelVersion.RunCounts;
import gatun.runtime.Origin;
import gatun.runtime.VersionCounters;
import gatun.runtime.server.InferenceServer;
import gatun.spi.MemoryUse;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelInstanceGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** A version of a model: its tensors, its configuration and what it has counted. Safe for any thread. */
final class ModelView {
    private final InferenceServer server;
    private final Sampler sampler;

    ModelView(InferenceServer server, Sampler sampler) {
        this.server = server;
        this.sampler = sampler;
    }

    /** The state of {@code version}; if that is empty, of the highest that is ready, or else of the highest. */
    Optional<ModelStatus> status(String name, String version) {
        List<ModelStatus> versions = versions(name);
        if (!version.isEmpty()) {
            return versions.stream()
                    .filter(model -> model.version().equals(version))
                    .findFirst();
        }
        return versions.stream()
                .filter(model -> model.state() == ModelState.READY)
                .reduce((lower, higher) -> higher)
                .or(() -> versions.stream().reduce((lower, higher) -> higher));
    }

    private List<ModelStatus> versions(String name) {
        return server.states().stream()
                .filter(model -> model.name().equals(name))
                .toList();
    }

    void write(JsonText json, ModelStatus status) {
        json.object()
                .member("name", status.name())
                .member("version", status.version())
                .member("state", status.state().name())
                .member("reason", status.reason())
                .member("engine", status.engine())
                .member("loadNanos", status.loadTime().toNanos());
        json.array("versions");
        versions(status.name()).stream()
                .map(ModelStatus::version)
                .filter(version -> !version.isEmpty())
                .forEach(json::element);
        json.endArray();
        ready(status).ifPresent(model -> writeModel(json, model));
        writeCounts(json, status);
        writeFailures(json, status);
        json.endObject();
    }

    private Optional<ModelVersion> ready(ModelStatus status) {
        if (status.state() != ModelState.READY) {
            return Optional.empty();
        }
        try {
            return Optional.of(server.model(status.name(), status.version()));
        } catch (GatunException e) {
            return Optional.empty(); // it went just now, or there are several of its name
        }
    }

    private void writeModel(JsonText json, ModelVersion model) {
        ModelConfig config = model.config();
        json.member("maxBatchSize", config.getMaxBatchSize())
                .member("decoupled", model.decoupled())
                .member("stateful", config.hasSequenceBatching());
        writeTensors(json, "inputs", model, model.inputs());
        writeTensors(json, "outputs", model, model.outputs());
        json.member("configuration", TextFormat.printer().printToString(config));
        json.array("completed");
        server.writtenConfig(model.name())
                .ifPresent(written -> CompletedSettings.of(written, config).forEach(one -> json.object()
                        .member("path", one.path())
                        .member("value", one.value())
                        .member("why", one.why())
                        .endObject()));
        model.choices().forEach(choice -> json.object()
                .member("path", "")
                .member("value", choice)
                .member("why", "chosen at the load")
                .endObject());
        model.learned().forEach(choice -> json.object()
                .member("path", "")
                .member("value", choice.text())
                .member("why", "learned while it runs")
                .endObject());
        RunCounts runs = model.runCounts();
        if (runs.total() > 0) {
            json.object()
                    .member("path", "")
                    .member("value", runs.text())
                    .member("why", "learned while it runs")
                    .endObject();
        }
        json.endArray();
        json.array("instanceGroups");
        for (ModelInstanceGroup group : config.getInstanceGroupList()) {
            json.object()
                    .member("name", group.getName())
                    .member("kind", group.getKind().name())
                    .member("count", group.getCount())
                    .array("gpus");
            group.getGpusList().forEach(json::element);
            json.endArray().endObject();
        }
        json.endArray();
    }

    private static void writeTensors(JsonText json, String name, ModelVersion model, List<TensorSpec> specs) {
        boolean inputs = name.equals("inputs");
        json.array(name);
        for (TensorSpec spec : specs) {
            json.object()
                    .member("name", spec.name())
                    .member("datatype", spec.datatype().wireName())
                    .array("shape");
            Shape shape = spec.shape();
            for (int i = 0; i < shape.rank(); i++) {
                json.element(shape.dim(i));
            }
            json.endArray();
            Optional<ModelInput> input = inputs ? input(model.config(), spec.name()) : Optional.empty();
            MemoryUse memory = inputs ? model.inputMemory(spec.name()) : model.outputMemory(spec.name());
            json.object("sharedMemory")
                    .member("inPlace", memory.isInPlace())
                    .member("reason", memory.reason())
                    .endObject();
            json.member("optional", input.map(ModelInput::getOptional).orElse(false));
            json.member(
                    "format",
                    input.map(one -> one.getFormat().name().replace("FORMAT_", ""))
                            .orElse("NONE"));
            List<String> labels = inputs ? List.of() : model.labels(spec.name());
            if (!labels.isEmpty()) {
                json.array("labels");
                labels.forEach(json::element);
                json.endArray();
            }
            json.endObject();
        }
        json.endArray();
    }

    private static Optional<ModelInput> input(ModelConfig config, String name) {
        return config.getInputList().stream()
                .filter(input -> input.getName().equals(name))
                .findFirst();
    }

    /** Writes the members that change while the version serves. */
    void writeCounts(JsonText json, ModelStatus status) {
        Optional<VersionCounters> counters = counters(status);
        json.array("origins");
        counters.flatMap(VersionCounters::latencies).ifPresent(found -> {
            Map<Origin, StageLatencies> byOrigin = new TreeMap<>(found.byOrigin());
            byOrigin.forEach((origin, stages) -> writeOrigin(json, origin, stages));
        });
        json.endArray();
        Optional<ModelStatistics> statistics = counters.map(VersionCounters::statistics);
        json.array("batchSizes");
        for (BatchStatistics batch : statistics.map(ModelStatistics::batches).orElse(List.of())) {
            json.object()
                    .member("size", batch.batchSize())
                    .member("count", batch.executionCount())
                    .member("computeInferNanos", batch.computeInferNanos())
                    .endObject();
        }
        json.endArray();
        statistics.ifPresent(counted -> {
            ModelStatistics.Failures failures = counted.totals().failures();
            json.object("failures")
                    .member("rejected", failures.rejected())
                    .member("canceled", failures.canceled())
                    .member("backend", failures.backend())
                    .member("other", failures.other())
                    .endObject();
            counted.cached().ifPresent(cache -> json.object("cache")
                    .member("hits", cache.hitCount())
                    .member("misses", cache.missCount())
                    .endObject());
        });
    }

    /** The counters of the ready version of that name; empty when it is not ready. */
    private Optional<VersionCounters> counters(ModelStatus status) {
        List<VersionCounters> found = new ArrayList<>();
        server.forEachReady((model, version, counters) -> {
            if (version.equals(status.version()) && model.name().equals(status.name())) {
                found.add(counters);
            }
        });
        return found.stream().findFirst();
    }

    private static void writeOrigin(JsonText json, Origin origin, StageLatencies stages) {
        json.object()
                .member("protocol", origin.protocol())
                .member("transport", origin.transport())
                .member("requests", stages.request().count())
                .object("stages");
        writeStage(json, "request", stages.request());
        writeStage(json, "queue", stages.queue());
        writeStage(json, "computeInput", stages.computeInput());
        writeStage(json, "computeInfer", stages.computeInfer());
        writeStage(json, "computeOutput", stages.computeOutput());
        json.endObject().endObject();
    }

    private static void writeStage(JsonText json, String name, Latencies latencies) {
        json.object(name).member("count", latencies.count());
        if (latencies.count() > 0) {
            json.member("p50Nanos", latencies.quantileNanos(0.5))
                    .member("p90Nanos", latencies.quantileNanos(0.9))
                    .member("p99Nanos", latencies.quantileNanos(0.99))
                    .member("maxNanos", latencies.quantileNanos(1))
                    .member("meanNanos", latencies.sumNanos() / latencies.count());
        }
        json.endObject();
    }

    /** Writes the texts of the last failures. */
    void writeFailures(JsonText json, ModelStatus status) {
        json.array("lastFailures");
        for (FailedRequest failure : sampler.failures(status.name(), status.version())) {
            json.object()
                    .member("atMillis", failure.atMillis())
                    .member("count", failure.count())
                    .member("reason", failure.reason())
                    .member("code", failure.code())
                    .member("text", failure.text())
                    .endObject();
        }
        json.endArray();
    }

    /** Finds the settings of a model's configuration that were not written, and where they came from. */
    static final class CompletedSettings {
        /** More than anybody reads. */
        private static final int LIMIT = 200;

        private static final int TEXT_LIMIT = 500;

        private final List<Setting> settings = new ArrayList<>();

        private CompletedSettings() {}

        /** A setting that was not written: path and value as in the configuration's file, and where it came from. */
        record Setting(String path, String value, String why) {}

        /** What {@code completed} has that {@code written} does not. */
        static List<Setting> of(ModelConfig written, ModelConfig completed) {
            CompletedSettings found = new CompletedSettings();
            found.compare("", written, completed, "");
            return List.copyOf(found.settings);
        }

        /** @param why where the fields of this message came from; empty where each has a reason of its own */
        private void compare(String path, Message written, Message completed, String why) {
            completed.getAllFields().forEach((field, value) -> {
                Object before = written.getField(field);
                if (value.equals(before)) {
                    return;
                }
                String place = path + field.getName();
                String reason = why.isEmpty() ? why(field) : why;
                if (field.isRepeated()
                        && !field.isMapField()
                        && field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                    compareLists(place, (List<?>) before, (List<?>) value, reason);
                } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE
                        && !field.isRepeated()
                        && written.hasField(field)) {
                    compare(place + ".", (Message) before, (Message) value, reason);
                } else {
                    add(place, print(field, value), reason);
                }
            });
        }

        private void compareLists(String place, List<?> written, List<?> completed, String why) {
            for (int i = 0; i < completed.size(); i++) {
                Message element = (Message) completed.get(i);
                if (i < written.size()) {
                    compare(place + "[" + i + "].", (Message) written.get(i), element, why);
                } else {
                    add(
                            place + "[" + i + "]",
                            "{ " + TextFormat.printer().emittingSingleLine(true).printToString(element) + " }",
                            why);
                }
            }
        }

        private void add(String path, String value, String why) {
            if (settings.size() < LIMIT) {
                settings.add(new Setting(
                        path, value.length() <= TEXT_LIMIT ? value : value.substring(0, TEXT_LIMIT) + "...", why));
            }
        }

        private static String print(FieldDescriptor field, Object value) {
            if (field.isRepeated() && !field.isMapField()) {
                List<String> elements = new ArrayList<>();
                for (Object element : (List<?>) value) {
                    elements.add(element instanceof EnumValueDescriptor one ? one.getName() : String.valueOf(element));
                }
                return "[ " + String.join(", ", elements) + " ]";
            }
            if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE && !field.isRepeated()) {
                return "{ " + TextFormat.printer().emittingSingleLine(true).printToString((Message) value) + " }";
            }
            return value instanceof EnumValueDescriptor one ? one.getName() : String.valueOf(value);
        }

        private static String why(FieldDescriptor field) {
            return switch (field.getName()) {
                case "name" -> "the name of the model's folder";
                case "input", "output", "max_batch_size" -> "read from the model's file";
                case "backend", "platform", "default_model_filename" -> "told by the names of the model's files";
                case "dynamic_batching", "model_transaction_policy", "parameters" -> "told by the engine";
                default -> "the server's default";
            };
        }
    }
}
