// SPDX-License-Identifier: Apache-2.0
package gatun.server.structure;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.cloud.sagemaker.SageMakerProtocol;
import gatun.cloud.sagemaker.SageMakerSettings;
import gatun.http.routes.OpenApi;
import gatun.http.routes.OpenApiJson;
import gatun.http.routes.RouteTable;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import gatun.server.harness.ServerProcess;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.protocol.TensorFlowProtocol;
import gatun.v1.protocol.V1Protocol;
import gatun.v2.protocol.V2Protocol;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The description of the API in the documentation, which is made from the tables of routes. */
class OpenApiIT {
    private static final Path DESCRIPTION = ServerProcess.root().resolve("docs/reference/openapi.yaml");

    @Test
    void shouldSayWhatTheTablesOfRoutesSay() throws Exception {
        try (BufferPool buffers = new BufferPool(1 << 20);
                SharedRegions regions = SharedRegions.open(buffers);
                GatunServer server =
                        GatunServer.open(ServerOptions.of(buffers, regions).listed(List.of()))) {
            ProtocolSettings settings = ProtocolSettings.standard();
            Stream<Protocol> protocols = Stream.of(
                    new V2Protocol(server, settings),
                    new TensorFlowProtocol(server, settings, TensorFlowSettings.STANDARD),
                    new V1Protocol(server, settings),
                    new SageMakerProtocol(server, settings, SageMakerSettings.STANDARD));

            List<RouteTable> tables =
                    new ArrayList<>(protocols.map(Protocol::table).toList());
            tables.add(OpenApiJson.table("Gatun", "2", tables, settings.http().access()));
            String made = OpenApi.describe("Gatun", "2", tables);

            Path written = Files.writeString(Path.of(System.getProperty("gatun.it.folder"), "openapi.yaml"), made);
            assertThat(made).as("%s; copy %s there", DESCRIPTION, written).isEqualTo(Files.readString(DESCRIPTION));
        }
    }
}
