// SPDX-License-Identifier: Apache-2.0
package gatun.spring;

import gatun.client.GatunClient;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The server's health and the models' metrics in Actuator, where the application has that. */
@AutoConfiguration(after = GatunAutoConfiguration.class)
@ConditionalOnBean(GatunClient.class)
public class GatunActuatorAutoConfiguration {
    /** The health {@code gatun}; off with {@code management.health.gatun.enabled=false}. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HealthIndicator.class)
    @ConditionalOnEnabledHealthIndicator("gatun")
    static class HealthConfiguration {
        @Bean
        @ConditionalOnMissingBean
        GatunHealthIndicator gatunHealthIndicator(GatunClient client) {
            return new GatunHealthIndicator(client);
        }
    }

    /** The meters {@code gatun.*}. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class MetricsConfiguration {
        @Bean
        @ConditionalOnMissingBean
        ModelMeters gatunModelMeters(GatunClient client, GatunProperties properties) {
            return new ModelMeters(client, properties.metricsInterval());
        }
    }
}
