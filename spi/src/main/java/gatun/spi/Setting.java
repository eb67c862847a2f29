// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import java.util.Locale;
import java.util.ServiceLoader;

/** A setting of the server that errors and log lines name, so that its operator can change it. */
public enum Setting {
    /** Whether clients may register shared memory. */
    ALLOW_CLIENT_SHM,
    /** The host names that clients on this machine may address the server by. */
    ALLOW_HOST,
    /** Whether clients on other machines may use shared memory. */
    ALLOW_REMOTE_CLIENT_SHM,
    /** An option of a backend. */
    BACKEND_CONFIG,
    /** The folder of further backends. */
    BACKEND_DIRECTORY,
    /** The size of the buffer pool. */
    BUFFER_POOL_BYTE_SIZE,
    /** The size of a GPU's memory pool. */
    CUDA_MEMORY_POOL_BYTE_SIZE,
    /** That configurations are taken as they are. */
    DISABLE_AUTO_COMPLETE_CONFIG,
    /** The origins whose pages may read responses over HTTP. */
    HTTP_CORS_ALLOW_ORIGIN,
    /** The most bytes of an HTTP request. */
    HTTP_MAX_INPUT_SIZE,
    /** The backends whose models run in processes of their own. */
    ISOLATE,
    /** The most bytes of a request that controls the server. */
    LIMIT_CONTROL_BYTE_SIZE,
    /** The most bytes of heap for requests. */
    LIMIT_HEAP_BYTE_SIZE,
    /** The most instances of a model. */
    LIMIT_INSTANCES,
    /** The most models. */
    LIMIT_MODELS,
    /** The most parameters of a request. */
    LIMIT_PARAMETERS,
    /** The most tensors of a request. */
    LIMIT_TENSORS,
    /** The most bytes of a text. */
    LIMIT_TEXT_BYTE_SIZE,
    /** The most bytes of a request's texts. */
    LIMIT_TEXTS_BYTE_SIZE,
    /** The most bytes of a warm-up sample. */
    LIMIT_WARM_UP_BYTE_SIZE,
    /** The most connections. */
    MAX_CONNECTIONS,
    /** The most connections from one address. */
    MAX_CONNECTIONS_PER_ADDRESS,
    /** The folder of one model that is served by name. */
    MODEL_BASE_PATH,
    /** The folder that keeps optimised models. */
    MODEL_CACHE_DIR,
    /** The file that lists models. */
    MODEL_CONFIG_FILE,
    /** Who decides which models are loaded. */
    MODEL_CONTROL_MODE,
    /** How long a model may take to load. */
    MODEL_LOAD_TIMEOUT_SECS,
    /** The memory that models may take together. */
    MODEL_MEMORY_LIMIT,
    /** The name of one model that is served by name. */
    MODEL_NAME,
    /** A folder in which clients may list models. */
    RELOAD_BASE_PATH,
    /** How long a model may take over TensorFlow Serving's REST API. */
    REST_API_TIMEOUT_IN_MS,
    /** Whether engines read and write clients' memory in place in any case. */
    TRUST_CLIENT_SHM;

    private static final SettingNames NAMES = ServiceLoader.load(SettingNames.class, Setting.class.getClassLoader())
            .findFirst()
            .orElse(setting -> setting.name().toLowerCase(Locale.ROOT).replace('_', '-'));

    /** One option of a backend with a value, as the operator writes it. */
    public static String backendOption(String backend, String option, Object value) {
        return BACKEND_CONFIG.with(backend + "," + option + "=" + value);
    }

    /** This setting with a value, as the operator writes it. */
    public String with(Object value) {
        return this + "=" + value;
    }

    /** What the operator calls this setting. */
    @Override
    public String toString() {
        return NAMES.of(this);
    }
}
