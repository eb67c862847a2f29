// SPDX-License-Identifier: Apache-2.0
/** The endpoints that Vertex AI and SageMaker expect of a server: other paths and headers for requests of v2. */
module gatun.cloud {
    requires static org.jspecify;
    requires transitive gatun.protocol;
    requires gatun.v2;
    requires gatun.wire;
    requires org.slf4j;

    exports gatun.cloud.sagemaker;
    exports gatun.cloud.vertexai;

    provides gatun.protocol.ProtocolProvider with
            gatun.cloud.sagemaker.SageMakerProtocolProvider,
            gatun.cloud.vertexai.VertexAiProtocolProvider;
}
