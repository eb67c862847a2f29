// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.settings.ServerSettings.DevicePoolLimit;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads one {@code --cuda-memory-pool-byte-size}: {@code gpu:bytes}. */
final class DevicePoolFlag implements ITypeConverter<DevicePoolLimit> {
    private static final String EXPECTED = "the number of a GPU and a number of bytes from 0 up, such as 0:1073741824";

    @Override
    public DevicePoolLimit convert(String value) {
        int colon = value.indexOf(':');
        if (colon < 0) {
            throw new TypeConversionException("'" + value + "' is not " + EXPECTED);
        }
        return new DevicePoolLimit(
                (int) FlagSpecs.number(value.substring(0, colon), 0, Integer.MAX_VALUE, EXPECTED),
                FlagSpecs.number(value.substring(colon + 1), 0, Long.MAX_VALUE, EXPECTED));
    }
}
