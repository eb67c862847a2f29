// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInstanceGroup;
import gatun.wire.inference.ModelInstanceGroup.Kind;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UsableDevicesTest {
    /** An engine that runs on those devices. */
    private record Engine(Set<Device.Kind> kinds) implements Backend {
        @Override
        public String name() {
            return "engine";
        }

        @Override
        public boolean runsOn(Device.Kind kind) {
            return kinds.contains(kind);
        }

        @Override
        public BackendModel load(ModelConfig config, Path versionDirectory) {
            throw new AssertionError("nothing is loaded here");
        }
    }

    private static UsableDevices devices(List<Integer> gpus, Device.Kind... kinds) {
        return new UsableDevices(gpus, () -> new Engine(Set.of(kinds)));
    }

    private static ModelConfig config(ModelInstanceGroup... groups) {
        return ModelConfig.newBuilder()
                .setName("m")
                .setBackend("engine")
                .addAllInstanceGroup(List.of(groups))
                .build();
    }

    private static ModelInstanceGroup group(Kind kind, Integer... gpus) {
        return ModelInstanceGroup.newBuilder()
                .setKind(kind)
                .addAllGpus(List.of(gpus))
                .build();
    }

    private static ModelInstanceGroup filled(ModelConfig config, UsableDevices devices) {
        return Defaults.fill(config, devices, 1).getInstanceGroup(0);
    }

    @Test
    void shouldPlaceAModelOnAllGpusWhereItsBackendRunsThere() {
        UsableDevices both = devices(List.of(0, 1), Device.Kind.CPU, Device.Kind.GPU);

        ModelInstanceGroup unnamed = filled(config(), both);
        assertThat(unnamed.getKind()).isEqualTo(Kind.KIND_GPU);
        assertThat(unnamed.getGpusList()).containsExactly(0, 1);
        assertThat(unnamed.getCount()).isEqualTo(1);

        assertThat(filled(config(group(Kind.KIND_GPU)), both).getGpusList()).containsExactly(0, 1);
        assertThat(filled(config(group(Kind.KIND_AUTO, 1)), both).getGpusList()).containsExactly(1);
    }

    @Test
    void shouldStayOnTheProcessorWhereAGpuIsMissing() {
        ModelInstanceGroup missing =
                filled(config(group(Kind.KIND_AUTO, 0, 7)), devices(List.of(0), Device.Kind.CPU, Device.Kind.GPU));
        assertThat(missing.getKind()).isEqualTo(Kind.KIND_CPU);
        assertThat(missing.getGpusList()).isEmpty();

        assertThat(filled(config(), devices(List.of(0), Device.Kind.CPU)).getKind())
                .isEqualTo(Kind.KIND_CPU);
    }

    @Test
    void shouldNotStartABackendToAskWhereThereAreNoGpus() {
        UsableDevices none = new UsableDevices(List.of(), () -> {
            throw new AssertionError("the backend was asked");
        });

        ModelConfig filled = Defaults.fill(config(), none, 1);

        assertThat(filled.getInstanceGroup(0).getKind()).isEqualTo(Kind.KIND_CPU);
        SchedulingRules.checkDevices(filled, none);
    }

    @Test
    void shouldRefuseADeviceThatTheBackendDoesNotRunOn() {
        assertThatThrownBy(() -> SchedulingRules.checkDevices(
                        config(group(Kind.KIND_GPU, 0)), devices(List.of(0), Device.Kind.CPU)))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("kind KIND_GPU, but backend 'engine' runs here on CPUs only");
        assertThatThrownBy(() -> SchedulingRules.checkDevices(
                        config(group(Kind.KIND_CPU)), devices(List.of(0), Device.Kind.GPU)))
                .hasMessageContaining("kind KIND_CPU, but backend 'engine' runs here on GPUs only");
    }
}
