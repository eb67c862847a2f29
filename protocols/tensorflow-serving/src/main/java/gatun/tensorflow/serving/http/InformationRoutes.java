// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.connection.Exchange;
import gatun.memory.tensor.Shape;
import gatun.runtime.ModelVersion;
import gatun.runtime.server.RepositoryControl;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.tensorflow.serving.DataTypes;
import gatun.tensorflow.serving.ExampleMappings;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.SignatureDefs;
import gatun.tensorflow.serving.VersionStatuses;
import gatun.wire.tensorflow.serving.ModelVersionStatus;
import java.util.Collection;
import java.util.List;

/** The states of a model's versions, and its signatures. Safe for any thread. */
final class InformationRoutes {
    private static final int INDENT = 1;

    private final RepositoryControl server;
    private final Servables servables;

    InformationRoutes(RepositoryControl server, Servables servables) {
        this.server = server;
        this.servables = servables;
    }

    /** Answers with the states of all versions, or of the one that the path has; a label makes no difference. */
    void status(Exchange exchange, ServablePath path) {
        List<ModelVersionStatus> versions = VersionStatuses.of(server, path.model(), path.versionNumber());
        IndentedJson json = RestResponse.text(exchange, INDENT);
        json.beginObject().name("model_version_status").beginArray();
        versions.forEach(version -> write(json, version));
        json.endArray().endObject();
        json.text().raw('\n');
        RestResponse.send(exchange, json);
    }

    private static void write(IndentedJson json, ModelVersionStatus version) {
        json.beginObject().name("version").string(Long.toString(version.getVersion()));
        json.name("state").string(version.getState().name());
        json.name("status").beginObject();
        json.name("error_code").string(version.getStatus().getErrorCode().name());
        json.name("error_message").string(version.getStatus().getErrorMessage());
        json.endObject().endObject();
    }

    void metadata(Exchange exchange, ServablePath path) {
        ModelVersion model = servables.find(path.servable(""));
        IndentedJson json = RestResponse.text(exchange, INDENT);
        json.text().raw("{\n\"model_spec\":");
        json.beginObject().name("name").string(model.name());
        json.name("signature_name").string("");
        json.name("version").string(model.versionText());
        json.endObject();
        json.text().raw("\n,\n\"metadata\": {\"signature_def\": ");
        SignatureJson.write(json, ExampleMappings.signatures(model));
        json.text().raw("\n}\n}\n");
        RestResponse.send(exchange, json);
    }

    /** Signatures as metadata shows them. */
    static final class SignatureJson {
        private SignatureJson() {}

        static void write(IndentedJson json, Collection<EntryPoint> signatures) {
            json.beginObject().name("signature_def").beginObject();
            for (EntryPoint signature : signatures) {
                json.name(signature.name());
                write(json, signature);
            }
            json.endObject().endObject();
        }

        private static void write(IndentedJson json, EntryPoint signature) {
            json.beginObject().name("inputs");
            writeTensors(json, signature.inputs());
            json.name("outputs");
            writeTensors(json, signature.outputs());
            json.name("method_name").string(SignatureDefs.method(signature));
            json.name("defaults").beginObject().endObject();
            json.endObject();
        }

        private static void writeTensors(IndentedJson json, List<EntryTensor> tensors) {
            json.beginObject();
            for (EntryTensor tensor : tensors) {
                json.name(tensor.spec().name()).beginObject();
                json.name("dtype").string(DataTypes.of(tensor.spec().datatype()).name());
                json.name("tensor_shape").beginObject().name("dim").beginArray();
                Shape shape = tensor.spec().shape();
                for (int i = 0; i < shape.rank() && !tensor.anyShape(); i++) {
                    json.beginObject().name("size").string(Long.toString(shape.dim(i)));
                    json.name("name").string("").endObject();
                }
                json.endArray().name("unknown_rank").bool(tensor.anyShape()).endObject();
                json.name("name").string(tensor.engineName()).endObject();
            }
            json.endObject();
        }
    }
}
