// SPDX-License-Identifier: Apache-2.0
package gatun.stores.s3;

import java.time.Instant;
import java.util.Optional;

/**
 * The keys that requests to S3 are signed with.
 *
 * @param keyId names the key
 * @param secretKey signs
 * @param sessionToken comes along with keys that expire; empty for others
 * @param expiry when they count no more; empty for never
 */
record AwsCredentials(String keyId, String secretKey, String sessionToken, Optional<Instant> expiry) {
    /** Shows which, and no secret. */
    @Override
    public String toString() {
        return "AwsCredentials[" + keyId + "]";
    }
}
