// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import static gatun.http.openapi.Operation.returning;
import static gatun.http.openapi.Schema.ANY;
import static gatun.http.openapi.Schema.BOOLEAN;
import static gatun.http.openapi.Schema.NUMBER;
import static gatun.http.openapi.Schema.OBJECT;
import static gatun.http.openapi.Schema.STRING;
import static gatun.http.openapi.Schema.anyOf;
import static gatun.http.openapi.Schema.arrayOf;
import static gatun.http.openapi.Schema.eitherOf;
import static gatun.http.openapi.Schema.mapOf;
import static gatun.http.openapi.Schema.object;

import gatun.http.openapi.Operation;
import gatun.http.openapi.Schema;

/** What the paths of TensorFlow Serving's protocol take and answer. */
final class TensorFlowOperations {
    private static final Schema ROWS =
            object("PredictRows").required("instances", arrayOf(ANY).atLeast(1)).optional("signature_name", STRING);
    private static final Schema COLUMNS = object("PredictColumns")
            .required("inputs", ANY.described("The only input's tensor, or an object with the tensor of each"))
            .optional("signature_name", STRING);
    static final Operation PREDICT = inferring(returning(eitherOf(
                    object("RowPredictions").required("predictions", arrayOf(ANY)),
                    object("ColumnPredictions").required("outputs", ANY)))
            .taking(eitherOf(ROWS, COLUMNS)));

    private static final Schema BASE64 =
            object("Base64").required("b64", Schema.BASE64).closed();

    /** A feature's elements, all of one kind. */
    private static final Schema FEATURE = anyOf(
                    STRING,
                    BOOLEAN,
                    NUMBER,
                    BASE64,
                    arrayOf(STRING),
                    arrayOf(BOOLEAN),
                    arrayOf(NUMBER),
                    arrayOf(BASE64))
            .named("Feature");

    private static final Schema EXAMPLE = mapOf(FEATURE).named("Example");
    private static final Schema EXAMPLES = object("Examples")
            .required("examples", arrayOf(EXAMPLE).atLeast(1))
            .optional("context", EXAMPLE)
            .optional("signature_name", STRING);
    static final Operation CLASSIFY =
            inferring(returning(object("Classifications").required("results", arrayOf(arrayOf(arrayOf(ANY)))))
                    .taking(EXAMPLES));
    static final Operation REGRESS = inferring(
            returning(object("Regressions").required("results", arrayOf(ANY))).taking(EXAMPLES));

    static final Operation STATUS = telling(returning(object("ModelVersions")
            .required(
                    "model_version_status",
                    arrayOf(OBJECT.required("version", STRING)
                            .required("state", STRING)
                            .required(
                                    "status",
                                    OBJECT.required("error_code", STRING).required("error_message", STRING))))));
    static final Operation METADATA = telling(returning(object("ModelSignatures")
            .required(
                    "model_spec",
                    OBJECT.required("name", STRING)
                            .required("signature_name", STRING)
                            .required("version", STRING))
            .required("metadata", OBJECT.required("signature_def", OBJECT))));
    static final Operation NAMELESS = Operation.refusing().failing(400);
    static final Operation LIVE =
            returning(object("Alive").required("status", STRING)).failing(503);

    private TensorFlowOperations() {}

    private static Operation telling(Operation operation) {
        return operation.failing(400, 404, 503);
    }

    /** Failures of inference: besides the usual ones, the model's own. */
    private static Operation inferring(Operation operation) {
        return telling(operation).failing(409, 413, 499, 501, 504);
    }
}
