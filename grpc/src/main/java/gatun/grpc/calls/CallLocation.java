// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import gatun.runtime.access.PeerLocation;
import io.grpc.Context;

/** The location of the client of the call at hand, for handlers, which learn it from the call's context. */
public final class CallLocation {
    /** Outside of a call nobody is known to be near. */
    private static final Context.Key<PeerLocation> KEY =
            Context.keyWithDefault("gatun-peer-location", PeerLocation.OTHER_MACHINE);

    private CallLocation() {}

    /** The location of the client whose call this thread runs. */
    public static PeerLocation current() {
        return KEY.get();
    }

    public static Context in(Context parent, PeerLocation location) {
        return parent.withValue(KEY, location);
    }
}
