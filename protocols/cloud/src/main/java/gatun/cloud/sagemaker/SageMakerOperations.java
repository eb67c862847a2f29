// SPDX-License-Identifier: Apache-2.0
package gatun.cloud.sagemaker;

import static gatun.http.openapi.Operation.returning;
import static gatun.http.openapi.Operation.returningNothing;
import static gatun.http.openapi.Schema.STRING;
import static gatun.http.openapi.Schema.arrayOf;
import static gatun.http.openapi.Schema.object;

import gatun.http.openapi.Operation;
import gatun.http.openapi.Schema;
import gatun.v2.http.V2Operations;

/** What the paths of SageMaker's endpoint take and answer. */
final class SageMakerOperations {
    private static final Schema MODEL =
            object("HostedModel").required("modelName", STRING).required("modelUrl", STRING);

    static final Operation LIST = returning(object("HostedModels").required("models", arrayOf(MODEL)));
    static final Operation GET = returning(MODEL).failing(400).failingSilently(404);
    static final Operation LOAD = returningNothing()
            .taking(object("HostedModelRequest")
                    .required("model_name", STRING.matching("."))
                    .required("url", STRING.matching(".").described("The folder with the model")))
            .failing(400, 409, 507);
    static final Operation UNLOAD = returningNothing().failing(400).failingSilently(404);

    private SageMakerOperations() {}

    static Operation ping(SageMakerSettings.Ping ping) {
        return switch (ping) {
            case READY -> V2Operations.READY;
            case LIVE -> V2Operations.LIVE;
        };
    }

    /** Inference with the default model; {@code binary} is the media type of bodies with bytes behind their JSON. */
    static Operation invocation(SageMakerSettings.Invocation invocation, String binary) {
        return switch (invocation) {
            case INFER -> V2Operations.inferring(binary).failing(400, 404, 413, 501, 503);
            case GENERATE -> V2Operations.GENERATE;
            case GENERATE_STREAM -> V2Operations.GENERATE_STREAM;
        };
    }

    /** Inference with a model that was loaded. */
    static Operation invocationOfModel(String binary) {
        return V2Operations.inferring(binary).failing(400).failingSilently(404);
    }
}
