// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;

/** A model cannot be served as it is configured. Says where in the configuration the mistake is. */
public final class ConfigurationException extends GatunException {
    private static final long serialVersionUID = 1;

    private final transient ConfigurationPath path;
    private final String advice;

    /** {@code message} tells what is wrong at {@code path}, the value, and what was expected. */
    public ConfigurationException(ConfigurationPath path, String message) {
        this(path, message, "");
    }

    /** The same with a usual remedy: {@code advice} tells what to write or to do instead. */
    public ConfigurationException(ConfigurationPath path, String message, String advice) {
        super(ErrorCode.INVALID_ARGUMENT, message);
        this.path = path;
        this.advice = advice;
    }

    /** The place of the mistake. */
    public ConfigurationPath path() {
        return path;
    }

    /** The usual remedy; empty where the message says it. */
    public String advice() {
        return advice;
    }
}
