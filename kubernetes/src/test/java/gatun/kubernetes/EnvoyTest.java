// SPDX-License-Identifier: Apache-2.0
package gatun.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import io.envoyproxy.envoy.config.bootstrap.v3.Bootstrap;
import io.envoyproxy.envoy.config.cluster.v3.Cluster;
import io.envoyproxy.envoy.config.listener.v3.Listener;
import io.envoyproxy.envoy.config.route.v3.Route;
import io.envoyproxy.envoy.extensions.access_loggers.stream.v3.StdoutAccessLog;
import io.envoyproxy.envoy.extensions.filters.http.router.v3.Router;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
import io.envoyproxy.envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate;
import io.envoyproxy.envoy.extensions.upstreams.http.v3.HttpProtocolOptions;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Envoy's configuration, read as Envoy's own message, which has to know every field. No Envoy runs it. */
class EnvoyTest {
    private static final JsonFormat.TypeRegistry EXTENSIONS = JsonFormat.TypeRegistry.newBuilder()
            .add(HttpConnectionManager.getDescriptor())
            .add(StdoutAccessLog.getDescriptor())
            .add(Router.getDescriptor())
            .add(PreviousHostsPredicate.getDescriptor())
            .add(HttpProtocolOptions.getDescriptor())
            .build();

    private static Bootstrap read(JsonNode configuration) throws InvalidProtocolBufferException {
        Bootstrap.Builder bootstrap = Bootstrap.newBuilder();
        JsonFormat.parser().usingTypeRegistry(EXTENSIONS).merge(configuration.toString(), bootstrap);
        return bootstrap.build();
    }

    @Test
    void shouldLeadEveryRouteToAClusterWithHealthChecks() throws Exception {
        Bootstrap bootstrap = read(StrictYaml.file(Path.of("envoy.yaml")));
        List<Cluster> clusters = bootstrap.getStaticResources().getClustersList();
        assertThat(clusters)
                .allSatisfy(cluster -> assertThat(cluster.getHealthChecksList()).hasSize(1));

        Listener listener = bootstrap.getStaticResources().getListeners(0);
        List<Route> routes = listener.getFilterChains(0)
                .getFilters(0)
                .getTypedConfig()
                .unpack(HttpConnectionManager.class)
                .getRouteConfig()
                .getVirtualHosts(0)
                .getRoutesList();
        assertThat(routes)
                .extracting(route -> route.getRoute().getCluster())
                .containsExactly("grpc-sequences", "http-sequences", "grpc", "http")
                .containsExactlyInAnyOrderElementsOf(
                        clusters.stream().map(Cluster::getName).toList());
        assertThat(routes).allSatisfy(route -> assertThat(route.getRoute().getHashPolicyCount() > 0)
                .isEqualTo(route.getRoute().getCluster().endsWith("-sequences"))
                .isNotEqualTo(route.getRoute().hasRetryPolicy()));
        assertThat(clusters)
                .allSatisfy(cluster ->
                        assertThat(cluster.getLoadAssignment().getClusterName()).isEqualTo(cluster.getName()));
    }

    @Test
    void shouldRefuseFieldsThatEnvoyDoesNotHave() {
        assertThatExceptionOfType(InvalidProtocolBufferException.class)
                .isThrownBy(
                        () -> read(StrictYaml.documents("static_resource: {}").getFirst()))
                .withMessageContaining("static_resource");
    }
}
