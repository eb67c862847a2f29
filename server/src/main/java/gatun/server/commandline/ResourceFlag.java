// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.ResourceAmount;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads one {@code --rate-limit-resource}: {@code name:count} or {@code name:count:device}. */
final class ResourceFlag implements ITypeConverter<ResourceAmount> {
    @Override
    public ResourceAmount convert(String text) {
        String[] parts = text.split(":", -1);
        if (parts.length == 2 || parts.length == 3) {
            try {
                int count = Integer.parseInt(parts[1]);
                int device = parts.length == 2 ? ResourceAmount.EVERY_DEVICE : Integer.parseInt(parts[2]);
                if (!parts[0].isEmpty() && count >= 0 && device >= ResourceAmount.EVERY_DEVICE) {
                    return new ResourceAmount(parts[0], count, device);
                }
            } catch (NumberFormatException e) {
                // Reported below, in the words of the flag.
            }
        }
        throw new TypeConversionException(
                "'" + text + "' is not NAME:COUNT or NAME:COUNT:DEVICE, such as R1:10 or R1:10:0");
    }
}
