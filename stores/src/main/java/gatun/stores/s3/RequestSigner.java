// SPDX-License-Identifier: Apache-2.0
package gatun.stores.s3;

import gatun.stores.s3.AwsCredentialSource.AwsCredentials;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs requests without a body, as AWS's "Signature Version 4" says. {@code region} is the bucket's. */
record RequestSigner(AwsCredentials credentials, String region) {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
    private static final String ALGORITHM = "AWS4-HMAC-SHA256";
    private static final String NO_BODY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    /** A signed GET request. The query of {@code uri} is escaped and sorted by name; header names are in lower case. */
    HttpRequest.Builder sign(URI uri, SortedMap<String, String> headers, Instant now) {
        String time = TIME.format(now);
        SortedMap<String, String> signed = new TreeMap<>(headers);
        signed.put("x-amz-content-sha256", NO_BODY);
        signed.put("x-amz-date", time);
        if (!credentials.sessionToken().isEmpty()) {
            signed.put("x-amz-security-token", credentials.sessionToken());
        }
        HttpRequest.Builder request = HttpRequest.newBuilder(uri);
        signed.forEach(request::header);
        // The client writes it.
        signed.put("host", uri.getRawAuthority());
        StringBuilder canonical = new StringBuilder("GET\n")
                .append(uri.getRawPath())
                .append('\n')
                .append(uri.getRawQuery() == null ? "" : uri.getRawQuery())
                .append('\n');
        signed.forEach((name, value) ->
                canonical.append(name).append(':').append(value.strip()).append('\n'));
        String names = String.join(";", signed.keySet());
        canonical.append('\n').append(names).append('\n').append(NO_BODY);
        String day = time.substring(0, 8);
        String scope = day + "/" + region + "/s3/aws4_request";
        String toSign = ALGORITHM + "\n" + time + "\n" + scope + "\n" + sha256(canonical.toString());
        byte[] key = ("AWS4" + credentials.secretKey()).getBytes(StandardCharsets.UTF_8);
        for (String part : new String[] {day, region, "s3", "aws4_request"}) {
            key = hmac(key, part);
        }
        String signature = HexFormat.of().formatHex(hmac(key, toSign));
        return request.header(
                "Authorization",
                ALGORITHM + " Credential=" + credentials.keyId() + "/" + scope + ", SignedHeaders=" + names
                        + ", Signature=" + signature);
    }

    private static String sha256(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private static byte[] hmac(byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has HmacSHA256", e);
        }
    }
}
