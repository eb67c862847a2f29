// SPDX-License-Identifier: Apache-2.0
package gatun.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.marcnuri.helm.Helm;
import com.marcnuri.helm.TemplateCommand;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The chart, rendered by Helm and read strictly. */
class ChartTest {
    private static final Path CHART = Path.of("helm/gatun");
    private static final String CLAIM = "models.volume.persistentVolumeClaim.claimName";

    private static TemplateCommand chart() {
        return new Helm(CHART).template().withName("r").withNamespace("n");
    }

    private static TemplateCommand complete() {
        return chart().set("image.repository", "registry.example/gatun").set(CLAIM, "models");
    }

    /** The resources by kind and name. */
    private static Map<String, JsonNode> rendered(TemplateCommand command) {
        Map<String, JsonNode> resources = new TreeMap<>();
        for (JsonNode document : StrictYaml.documents(command.call())) {
            String name = document.path("metadata").path("name").asText();
            resources.put(document.path("kind").asText() + " " + name, document);
        }
        return resources;
    }

    private static <T> T resource(Map<String, JsonNode> resources, String key, Class<T> type) {
        assertThat(resources).containsKey(key);
        return StrictYaml.read(resources.getOrDefault(key, MissingNode.getInstance()), type);
    }

    private static Deployment deployment(TemplateCommand command) {
        return resource(rendered(command), "Deployment r-gatun", Deployment.class);
    }

    @Test
    void shouldRenderWhatAClusterWithoutAnythingElseKnows() {
        assertThat(rendered(complete()))
                .containsOnlyKeys(
                        "Deployment r-gatun", "Service r-gatun", "Service r-gatun-pods", "PodDisruptionBudget r-gatun");
    }

    @Test
    void shouldRunWithoutPrivilegesAndWithoutWritingToItsImage() {
        PodSpec pod = deployment(complete()).getSpec().getTemplate().getSpec();
        Container container = pod.getContainers().getFirst();

        assertThat(pod.getSecurityContext().getRunAsNonRoot()).isTrue();
        assertThat(pod.getAutomountServiceAccountToken()).isFalse();
        assertThat(pod.getEnableServiceLinks()).isFalse();
        assertThat(container.getSecurityContext().getReadOnlyRootFilesystem()).isTrue();
        assertThat(container.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
        assertThat(container.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
        assertThat(container.getVolumeMounts())
                .extracting(VolumeMount::getMountPath)
                .containsExactly("/models", "/var/cache/gatun", "/tmp", "/dev/shm");
        assertThat(pod.getVolumes())
                .extracting(Volume::getName)
                .containsExactlyInAnyOrderElementsOf(container.getVolumeMounts().stream()
                        .map(VolumeMount::getName)
                        .toList());
        assertThat(pod.getVolumes().getLast().getEmptyDir().getMedium()).isEqualTo("Memory");
        assertThat(container.getImage()).isEqualTo("registry.example/gatun:0.1.0");
    }

    @Test
    void shouldGiveItsServerFlagsThatThereAre() {
        List<String> arguments = deployment(
                        complete().set("args[0]", "--log-verbose=1").set("args[1]", "--model-control-mode=poll"))
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .getFirst()
                .getArgs();

        assertThat(arguments)
                .contains("serve", "--model-repository=/models", "--drain-secs=15", "--buffer-pool-byte-size=268435456")
                .contains("--start-warm-up-secs=10")
                .endsWith("--log-verbose=1", "--model-control-mode=poll");
        assertThat(Flags.unknown(arguments)).isEmpty();
        assertThat(Flags.unknown(List.of("--drain", "serve"))).containsExactly("--drain");
    }

    @Test
    void shouldLeaveTimeToStop() {
        PodSpec pod = deployment(complete().set("drainSeconds", 20).set("exitTimeoutSeconds", 40))
                .getSpec()
                .getTemplate()
                .getSpec();
        assertThat(pod.getTerminationGracePeriodSeconds()).isEqualTo(20 + 40 + 10);
        assertThat(pod.getContainers().getFirst().getLifecycle()).isNull();
    }

    @Test
    void shouldAskTheServerAboutItsHealth() {
        Container container = deployment(complete())
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .getFirst();

        assertThat(container.getStartupProbe().getHttpGet().getPath()).isEqualTo("/v2/health/live");
        assertThat(container.getReadinessProbe().getHttpGet().getPath()).isEqualTo("/v2/health/ready");
        assertThat(container.getLivenessProbe().getHttpGet().getPath()).isEqualTo("/v2/health/live");
        assertThat(container.getReadinessProbe().getPeriodSeconds()).isEqualTo(5);
        assertThat(container.getReadinessProbe().getFailureThreshold()).isEqualTo(2);
    }

    @Test
    void shouldLeadToPortsThatThePodsHave() {
        Map<String, JsonNode> resources = rendered(complete());
        Deployment deployment = resource(resources, "Deployment r-gatun", Deployment.class);
        List<String> ports = deployment.getSpec().getTemplate().getSpec().getContainers().getFirst().getPorts().stream()
                .map(ContainerPort::getName)
                .toList();
        Service service = resource(resources, "Service r-gatun", Service.class);
        Service pods = resource(resources, "Service r-gatun-pods", Service.class);

        for (Service each : List.of(service, pods)) {
            assertThat(ports)
                    .containsAll(each.getSpec().getPorts().stream()
                            .map(ServicePort::getTargetPort)
                            .map(port -> port.getStrVal())
                            .toList());
            assertThat(deployment.getSpec().getTemplate().getMetadata().getLabels())
                    .containsAllEntriesOf(each.getSpec().getSelector());
        }
        assertThat(pods.getSpec().getClusterIP()).isEqualTo("None");
        PodDisruptionBudget budget = resource(resources, "PodDisruptionBudget r-gatun", PodDisruptionBudget.class);
        assertThat(budget.getSpec().getSelector())
                .isEqualTo(deployment.getSpec().getSelector());
    }

    @Test
    void shouldScaleByTheMetricThatTheAdapterMakes() {
        Map<String, JsonNode> resources =
                rendered(complete().set("autoscaling.enabled", true).set("podMonitor.enabled", true));
        HorizontalPodAutoscaler scaler =
                resource(resources, "HorizontalPodAutoscaler r-gatun", HorizontalPodAutoscaler.class);
        assertThat(scaler.getSpec().getScaleTargetRef().getName()).isEqualTo("r-gatun");
        assertThat(resource(resources, "Deployment r-gatun", Deployment.class)
                        .getSpec()
                        .getReplicas())
                .isNull();

        String metric =
                scaler.getSpec().getMetrics().getFirst().getPods().getMetric().getName();
        JsonNode rule = StrictYaml.file(Path.of("prometheus-adapter.yaml"))
                .path("rules")
                .path("custom")
                .path(0);
        assertThat(rule.path("name").path("as").asText()).isEqualTo(metric);

        PodMonitor monitor = resource(resources, "PodMonitor r-gatun", PodMonitor.class);
        assertThat(monitor.spec().podMetricsEndpoints().getFirst().port()).isEqualTo("metrics");
    }

    @Test
    void shouldRenderEverythingThatValuesCanSet() {
        Deployment deployment = deployment(complete()
                .set("imagePullSecrets[0].name", "key")
                .set("env[0].name", "GATUN_LOG_VERBOSE")
                .set("env[0].value", "a")
                .set("podAnnotations.a", "b")
                .set("podLabels.c", "d")
                .set("nodeSelector.e", "f")
                .set("tolerations[0].key", "gpu")
                .set(
                        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
                                + ".matchExpressions[0].key",
                        "zone")
                .set("topologySpreadConstraints[0].topologyKey", "zone")
                .set("service.annotations.g", "h"));

        PodSpec pod = deployment.getSpec().getTemplate().getSpec();
        assertThat(pod.getTopologySpreadConstraints().getFirst().getTopologyKey())
                .isEqualTo("zone");
        assertThat(pod.getTolerations().getFirst().getKey()).isEqualTo("gpu");
        assertThat(pod.getContainers().getFirst().getEnv()).hasSize(3);
        assertThat(deployment.getSpec().getTemplate().getMetadata().getLabels()).containsEntry("c", "d");
    }

    @Test
    void shouldSayWhatIsMissingOrContradictsItself() {
        assertThatIllegalStateException()
                .isThrownBy(chart().set(CLAIM, "models")::call)
                .withMessageContaining("image.repository is empty");
        assertThatIllegalStateException()
                .isThrownBy(chart().set("image.repository", "gatun")::call)
                .withMessageContaining("models.volume is empty");
        assertThatIllegalStateException()
                .isThrownBy(complete().set("drainSeconds", 10)::call)
                .withMessageContaining("drainSeconds is 10: expected more than the 10 seconds");
    }

    @Test
    void shouldRefuseFieldsThatResourcesDoNotHave() {
        Map<String, JsonNode> resources = rendered(complete());
        assertThat(resource(resources, "Service r-gatun", Service.class)).isNotNull();
        resources.forEach((name, resource) -> ((ObjectNode) resource.path("spec")).put("replica", 1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resource(resources, "Service r-gatun", Service.class))
                .withMessageContaining("replica");
    }
}
