// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import gatun.cloud.sagemaker.SageMakerProtocol;
import gatun.cloud.sagemaker.SageMakerSettings;
import gatun.console.protocol.ConsoleProtocol;
import gatun.http.routes.OpenApiJson;
import gatun.http.routes.RouteTable;
import gatun.it.harness.ServerProcess;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolSettings;
import gatun.protocol.ServerSurroundings;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.protocol.TensorFlowProtocol;
import gatun.v1.protocol.V1Protocol;
import gatun.v2.protocol.V2Protocol;
import io.swagger.v3.core.util.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The description of the API in the documentation, which is made from the tables of routes. */
class OpenApiIT {
    private static final int LINE_LENGTH = 120;
    private static final Path DESCRIPTION = ServerProcess.root().resolve("docs/reference/openapi.yaml");

    /** A server that nobody is connected to. */
    private static final class Alone implements ServerSurroundings {
        @Override
        public OptionalInt httpPort() {
            return OptionalInt.empty();
        }

        @Override
        public OptionalInt grpcPort() {
            return OptionalInt.empty();
        }

        @Override
        public Connections connections() {
            return new Connections(0, 0, 0);
        }

        @Override
        public ConnectionList connections(int limit) {
            return new ConnectionList(List.of(), 0);
        }

        @Override
        public List<Lane> lanes() {
            return List.of();
        }

        @Override
        public List<Fetch> fetches() {
            return List.of();
        }

        @Override
        public List<Certificate> certificates() {
            return List.of();
        }
    }

    @Test
    void shouldSayWhatTheTablesOfRoutesSay() throws Exception {
        try (BufferPool buffers = new BufferPool(1 << 20);
                SharedRegions regions = SharedRegions.open(buffers);
                GatunServer server =
                        GatunServer.open(ServerOptions.of(buffers, regions).listed(List.of()));
                ConsoleProtocol console = new ConsoleProtocol(server, new Alone(), ProtocolSettings.standard(), true)) {
            ProtocolSettings settings = ProtocolSettings.standard();
            Stream<Protocol> protocols = Stream.of(
                    console,
                    new V2Protocol(server, settings),
                    new TensorFlowProtocol(server, settings, TensorFlowSettings.STANDARD),
                    new V1Protocol(server, settings),
                    new SageMakerProtocol(server, settings, SageMakerSettings.STANDARD));

            List<RouteTable> tables = protocols.map(Protocol::table).toList();
            String made = yaml(OpenApiJson.describe("Gatun", "2", tables));

            Path written = Files.writeString(Path.of(System.getProperty("gatun.it.folder"), "openapi.yaml"), made);
            assertThat(made).as("%s; copy %s there", DESCRIPTION, written).isEqualTo(Files.readString(DESCRIPTION));
        }
    }

    private static String yaml(String json) throws Exception {
        StringBuilder yaml = new StringBuilder();
        write(yaml, Json.mapper().readTree(json), "");
        return yaml.toString();
    }

    /** Writes the members of an object, each in one line where it fits: JSON is YAML, too. */
    private static void write(StringBuilder yaml, JsonNode object, String indent) {
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            JsonNode value = member.getValue();
            String name = indent + TextNode.valueOf(member.getKey()) + ":";
            String line = name + " " + value;
            boolean fits = line.length() <= LINE_LENGTH || value.isEmpty();
            yaml.append(fits ? line : name).append('\n');
            if (!fits && value.isArray()) {
                value.forEach(element ->
                        yaml.append(indent).append("  - ").append(element).append('\n'));
            } else if (!fits) {
                write(yaml, value, indent + "  ");
            }
        }
    }
}
