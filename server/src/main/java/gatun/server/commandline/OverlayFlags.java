// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

/** Flags whose defaults come from the settings that they overlay. */
abstract class OverlayFlags<S> extends FlagGroup {
    /** What holds where no flag says otherwise. */
    final S standard;

    OverlayFlags(S standard) {
        this.standard = standard;
    }
}
