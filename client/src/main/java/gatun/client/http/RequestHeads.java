// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.ClientOptions;
import gatun.client.ServerAddress;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Writes the heads of requests to one server. Immutable and safe for any thread. */
final class RequestHeads {
    private static final String DIGITS = "0123456789ABCDEF";
    /** Characters that stand unescaped in a path, besides letters and digits: RFC 3986, 3.3. */
    private static final String PLAIN = "-._~!$&'()*+,;=:@";
    /** Characters allowed in a header's name, besides letters and digits: RFC 9110, 5.6.2. */
    private static final String TOKEN = "!#$%&'*+-.^_`|~";

    private final String pathPrefix;
    private final String sameForAll;

    /** Throws {@link IllegalArgumentException} for headers that HTTP cannot carry. */
    RequestHeads(ClientOptions options) {
        ServerAddress server = options.server();
        this.pathPrefix = server.path();
        StringBuilder lines = new StringBuilder(" HTTP/1.1\r\n");
        boolean hostGiven = false;
        for (Map.Entry<String, String> header : options.headers().entrySet()) {
            append(lines, header.getKey(), header.getValue());
            hostGiven |= header.getKey().equalsIgnoreCase("host");
        }
        if (!hostGiven) {
            append(lines, "Host", host(server));
        }
        switch (options.compression()) {
            case GZIP -> append(lines, "Accept-Encoding", "gzip");
            case DEFLATE -> append(lines, "Accept-Encoding", "deflate");
            case NONE -> {
                // Without the header, servers do not compress responses.
            }
        }
        this.sameForAll = lines.toString();
    }

    MemorySegment of(String method, String path, Map<String, String> headers, List<MemorySegment> body) {
        long length = 0;
        for (MemorySegment piece : body) {
            length += piece.byteSize();
        }
        return of(method, path, headers, length);
    }

    MemorySegment of(String method, String path, Map<String, String> headers, long bodyByteSize) {
        StringBuilder text = new StringBuilder(256);
        text.append(method).append(' ').append(pathPrefix).append(path).append(sameForAll);
        headers.forEach((name, value) -> append(text, name, value));
        if (bodyByteSize > 0 || !method.equals("GET")) {
            text.append("Content-Length: ").append(bodyByteSize).append("\r\n");
        }
        return MemorySegment.ofArray(text.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    static String encoded(String name) {
        ByteArrayOutputStream path = new ByteArrayOutputStream(name.length());
        for (byte letter : name.getBytes(StandardCharsets.UTF_8)) {
            if (isLetterOrDigit(letter) || PLAIN.indexOf(letter) >= 0) {
                path.write(letter);
            } else {
                path.write('%');
                path.write(DIGITS.charAt(letter >> 4 & 0xF));
                path.write(DIGITS.charAt(letter & 0xF));
            }
        }
        return path.toString(StandardCharsets.US_ASCII);
    }

    private static String host(ServerAddress server) {
        String host = server.host().indexOf(':') >= 0 ? "[" + server.host() + "]" : server.host();
        return server.isUnix() ? host : host + ":" + server.port();
    }

    private static void append(StringBuilder lines, String name, String value) {
        for (int i = 0; i < name.length(); i++) {
            char letter = name.charAt(i);
            if (!isLetterOrDigit(letter) && TOKEN.indexOf(letter) < 0) {
                throw malformed(name);
            }
        }
        for (int i = 0; i < value.length(); i++) {
            char letter = value.charAt(i);
            if ((letter != '\t' && letter < ' ') || letter == 0x7F || letter > 0xFF) {
                throw malformed(name);
            }
        }
        if (name.isEmpty()) {
            throw malformed(name);
        }
        lines.append(name).append(": ").append(value).append("\r\n");
    }

    private static IllegalArgumentException malformed(String name) {
        return new IllegalArgumentException("the header '" + name
                + "' cannot be sent over HTTP: expected a name of letters, digits and hyphens,"
                + " and a value without line ends and control characters");
    }

    private static boolean isLetterOrDigit(int letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
    }
}
