// SPDX-License-Identifier: Apache-2.0
/** The frames of HTTP/2: read, and written under one lock with what is sent from where it lies. */
@NullMarked
package gatun.grpc.frames;

import org.jspecify.annotations.NullMarked;
