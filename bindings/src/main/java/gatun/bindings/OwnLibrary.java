// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import java.net.URL;
import org.jspecify.annotations.Nullable;

/** Finds the libraries of our own C in {@code bindings/src/main/c}, if the build had a C compiler. */
final class OwnLibrary {
    private OwnLibrary() {}

    /** Where the library lies for the machine that this is, below this package. */
    static String file(String name) {
        return "native/linux-" + Machine.current().linuxName() + "/libgatun-" + name + ".so";
    }

    /** The library; null when this build has none for this machine. */
    static @Nullable URL resource(String name) {
        return OwnLibrary.class.getResource(file(name));
    }
}
