// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import io.helidon.service.registry.GlobalServiceRegistry;
import io.helidon.service.registry.ServiceRegistryConfig;
import io.helidon.service.registry.ServiceRegistryManager;

/** What Helidon finds of its services in a process. */
public final class HelidonServices {
    private HelidonServices() {}

    /**
     * Has Helidon find none. Its listeners look for services of the whole process, in files of each jar, which takes a
     * tenth of a second of each start; Gatun uses none. Only for a process that is Gatun's own, since it holds for all of
     * it, and to be called before any listener starts.
     */
    public static void findNone() {
        GlobalServiceRegistry.registry(ServiceRegistryManager.create(ServiceRegistryConfig.builder()
                        .discoverServices(false)
                        .discoverServicesFromServiceLoader(false)
                        .build())
                .registry());
    }
}
