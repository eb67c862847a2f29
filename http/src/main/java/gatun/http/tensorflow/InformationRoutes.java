package gatun.http.tensorflow;

import gatun.http.connection.Exchange;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.runtime.InferenceServer;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelVersion;
import java.util.Comparator;
import java.util.List;

/** The states of a model's versions, and its signatures. Safe for any thread. */
final class InformationRoutes {
    private static final int INDENT = 1;

    /** The reason that the index gives for versions that were unloaded and did not fail. */
    private static final String UNLOADED = "unloaded";

    private final InferenceServer server;
    private final Servables servables;

    InformationRoutes(InferenceServer server, Servables servables) {
        this.server = server;
        this.servables = servables;
    }

    /** Answers with the states of all versions, or of the one that the path has; a label makes no difference. */
    void status(Exchange exchange, ServablePath path) {
        List<ModelStatus> versions = server.index().stream()
                .filter(model ->
                        model.name().equals(path.model()) && !model.version().isEmpty())
                .filter(model ->
                        path.version().isEmpty() || Long.parseLong(model.version()) == Long.parseLong(path.version()))
                .sorted(Comparator.comparingLong((ModelStatus model) -> Long.parseLong(model.version()))
                        .reversed())
                .toList();
        if (versions.isEmpty()) {
            throw new GatunException(
                    ErrorCode.NOT_FOUND,
                    path.version().isEmpty()
                            ? "Could not find any versions of model " + path.model()
                            : "Could not find version " + Long.parseLong(path.version()) + " of model " + path.model());
        }
        IndentedJson json = new IndentedJson(exchange.json(), INDENT);
        json.beginObject().name("model_version_status").beginArray();
        versions.forEach(version -> write(json, version));
        json.endArray().endObject();
        json.text().raw('\n');
        RestAnswer.send(exchange, json);
    }

    private static void write(IndentedJson json, ModelStatus version) {
        boolean failed = !version.reason().isEmpty() && !version.reason().equals(UNLOADED);
        String state =
                switch (version.state()) {
                    case UNKNOWN -> "START";
                    case LOADING -> "LOADING";
                    case READY -> "AVAILABLE";
                    case UNLOADING -> "UNLOADING";
                    case UNAVAILABLE -> "END";
                };
        json.beginObject().name("version").string(version.version());
        json.name("state").string(state);
        json.name("status").beginObject();
        json.name("error_code").string(failed ? "UNKNOWN" : "OK");
        json.name("error_message").string(failed ? version.reason() : "");
        json.endObject().endObject();
    }

    /** Answers with the signatures of a version. */
    void metadata(Exchange exchange, ServablePath path) {
        ModelVersion model = servables.find(path);
        IndentedJson json = new IndentedJson(exchange.json(), INDENT);
        json.text().raw("{\n\"model_spec\":");
        json.beginObject().name("name").string(model.name());
        json.name("signature_name").string("");
        json.name("version").string(model.versionText());
        json.endObject();
        json.text().raw("\n,\n\"metadata\": {\"signature_def\": ");
        SignatureJson.write(json, model.entryPoints().values());
        json.text().raw("\n}\n}\n");
        RestAnswer.send(exchange, json);
    }
}
