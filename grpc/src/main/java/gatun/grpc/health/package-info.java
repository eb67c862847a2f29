// SPDX-License-Identifier: Apache-2.0
/** {@code grpc.health.v1.Health}: whether the server and its services answer, asked once or watched. */
@NullMarked
package gatun.grpc.health;

import org.jspecify.annotations.NullMarked;
