// SPDX-License-Identifier: Apache-2.0
package gatun.spring;

import gatun.client.ClientOptions;
import gatun.client.GatunClient;
import gatun.embedded.Gatun;
import java.io.IOException;
import java.util.Map;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ResourceLoader;

/**
 * A {@link GatunClient} for the application: of the server that {@code gatun.url} names, or of the models in
 * {@code gatun.model-repository}, which are then served in this process. Beans of the application's own come first.
 */
@AutoConfiguration
@EnableConfigurationProperties(GatunProperties.class)
public class GatunAutoConfiguration {
    /** The models in this application; before the client, which is theirs. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Gatun.class)
    @ConditionalOnProperty("gatun.model-repository")
    static class EmbeddedConfiguration {
        @Bean
        @ConditionalOnMissingBean
        RepositoryFolder gatunRepositoryFolder(GatunProperties properties, ResourceLoader resources)
                throws IOException {
            return RepositoryFolder.open(String.valueOf(properties.modelRepository()), resources);
        }

        @Bean
        @ConditionalOnMissingBean({Gatun.class, GatunClient.class})
        Gatun gatun(GatunProperties properties, RepositoryFolder repository) {
            return Gatun.embedded(repository.path(), properties.flags().toArray(String[]::new));
        }

        /** Spring calls no close of it: it does nothing, and the server has its own. */
        @Bean(destroyMethod = "")
        @ConditionalOnBean(Gatun.class)
        @ConditionalOnMissingBean
        GatunClient gatunClient(Gatun gatun) {
            return gatun.client();
        }
    }

    /** A server elsewhere. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty("gatun.url")
    static class RemoteConfiguration {
        @Bean
        @ConditionalOnMissingBean
        GatunClient gatunClient(GatunProperties properties) {
            ClientOptions options = ClientOptions.of(String.valueOf(properties.url()));
            for (Map.Entry<String, String> header : properties.headers().entrySet()) {
                options = options.withHeader(header.getKey(), header.getValue());
            }
            if (properties.token() != null) {
                options = options.withToken(properties.token());
            }
            if (properties.deadline() != null) {
                options = options.withDeadline(properties.deadline());
            }
            return GatunClient.connect(options);
        }
    }
}
