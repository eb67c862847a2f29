// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.cloud.sagemaker.SageMakerSettings;
import java.util.Optional;

/**
 * The endpoints that clouds expect of a server, each on a port of its own.
 *
 * @param vertexAi the endpoint for Vertex AI
 * @param sageMaker the endpoint for SageMaker
 */
public record CloudSettings(VertexAi vertexAi, SageMaker sageMaker) {
    private static final int PORT = 8080;

    /** No endpoint; port 8080 for one that is wanted. */
    public static final CloudSettings STANDARD = new CloudSettings(
            new VertexAi(new Bind(false, Optional.empty(), PORT), "", "", ""),
            new SageMaker(new Bind(false, Optional.empty(), PORT), Optional.empty(), SageMakerSettings.STANDARD));

    /** The same, but nothing listens. */
    CloudSettings disabled() {
        return new CloudSettings(
                new VertexAi(
                        vertexAi.bind.disabled(), vertexAi.predictRoute, vertexAi.healthRoute, vertexAi.defaultModel),
                new SageMaker(sageMaker.bind.disabled(), sageMaker.otherPorts, sageMaker.protocol));
    }

    /**
     * The address of an endpoint.
     *
     * @param enabled whether it listens at all
     * @param address the address to listen on; empty for that of HTTP
     * @param port the port to listen on; 0 for any free one
     */
    public record Bind(boolean enabled, Optional<String> address, int port) {
        private Bind disabled() {
            return new Bind(false, address, port);
        }
    }

    /**
     * The endpoint for Vertex AI.
     *
     * @param bind its address
     * @param predictRoute the path of predictions; empty where nothing tells it
     * @param healthRoute the path of health checks; empty where nothing tells it
     * @param defaultModel the model of requests that name none; empty for the only one
     */
    public record VertexAi(Bind bind, String predictRoute, String healthRoute, String defaultModel) {}

    /**
     * The endpoint for SageMaker.
     *
     * @param bind its address
     * @param otherPorts the ports that everything else may listen on; empty for any
     * @param protocol the settings of the protocol
     */
    public record SageMaker(Bind bind, Optional<PortRange> otherPorts, SageMakerSettings protocol) {}

    /**
     * Ports.
     *
     * @param first the least
     * @param last the greatest
     */
    public record PortRange(int first, int last) {
        /** Whether {@code port} is one of them. */
        public boolean contains(int port) {
            return port >= first && port <= last;
        }
    }
}
