// SPDX-License-Identifier: Apache-2.0
package gatun.stores;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A store on the loopback address that speaks enough of S3, and answers as no store should where a test says so. */
public final class FaultyStore implements AutoCloseable {
    private final ServerSocket listener;
    private final List<Socket> connections = new CopyOnWriteArrayList<>();

    /** The content of the bucket. */
    public final SortedMap<String, byte[]> objects = new ConcurrentSkipListMap<>();

    /** Names in the bucket's listing that no object has, with sizes. */
    public final Map<String, Long> rumours = new ConcurrentHashMap<>();

    /** What is answered instead, by the name of an object; that of a listing is {@code ?}. */
    public final Map<String, Reply> replies = new ConcurrentHashMap<>();

    /** The names of all objects that were asked for, with the first byte. */
    public final List<String> asked = new CopyOnWriteArrayList<>();

    /** An answer. */
    public interface Reply {
        /** Writes it; the connection ends after it. */
        void write(OutputStream out, Map<String, String> request) throws IOException;
    }

    private FaultyStore(ServerSocket listener) {
        this.listener = listener;
    }

    /** Starts it. */
    public static FaultyStore start() throws IOException {
        FaultyStore store = new FaultyStore(new ServerSocket(0, 64, InetAddress.getLoopbackAddress()));
        Thread.ofVirtual().start(store::accept);
        return store;
    }

    /** The URL of a folder in its bucket. */
    public String url(String folder) {
        return "s3://http://127.0.0.1:" + listener.getLocalPort() + "/bucket/" + folder;
    }

    /** The URL of an object, for clients of HTTP. */
    public String http(String name) {
        return "http://127.0.0.1:" + listener.getLocalPort() + "/bucket/" + name;
    }

    /** Puts an object into the bucket. */
    public void put(String name, String content) {
        objects.put(name, content.getBytes(StandardCharsets.UTF_8));
    }

    private void accept() {
        while (true) {
            try {
                Socket connection = listener.accept();
                connections.add(connection);
                Thread.ofVirtual().start(() -> serve(connection));
            } catch (IOException e) {
                return; // Closed.
            }
        }
    }

    private void serve(Socket connection) {
        try (connection;
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8));
                OutputStream out = new BufferedOutputStream(connection.getOutputStream())) {
            String line = in.readLine();
            if (line == null) {
                return;
            }
            String target = line.split(" ", 3)[1];
            Map<String, String> request = new TreeMap<>();
            for (String header = in.readLine(); !header.isEmpty(); header = in.readLine()) {
                int colon = header.indexOf(':');
                request.put(
                        header.substring(0, colon).toLowerCase(Locale.ROOT),
                        header.substring(colon + 1).strip());
            }
            answer(target, request, out);
            out.flush();
        } catch (IOException e) {
            // The client has enough.
        }
    }

    private void answer(String target, Map<String, String> request, OutputStream out) throws IOException {
        String[] parts = target.split("\\?", 2);
        String name = java.net.URLDecoder.decode(
                parts[0].substring("/bucket/".length()).replace("+", "%2B"), StandardCharsets.UTF_8);
        if (parts.length == 2) {
            if (replies.containsKey("?")) {
                replies.get("?").write(out, request);
            } else {
                list(parts[1], out);
            }
            return;
        }
        asked.add(name + " from " + first(request));
        Reply reply = replies.get(name);
        if (reply != null) {
            reply.write(out, request);
            return;
        }
        byte[] content = objects.get(name);
        if (content == null) {
            status(out, "404 Not Found", "<Error><Code>NoSuchKey</Code></Error>");
        } else if (request.containsKey("if-match") && !request.get("if-match").equals("\"" + md5(content) + "\"")) {
            status(out, "412 Precondition Failed", "");
        } else {
            content(out, request, content, content.length);
        }
    }

    private static int first(Map<String, String> request) {
        String range = request.getOrDefault("range", "bytes=0-");
        return Integer.parseInt(range.substring(6, range.indexOf('-')));
    }

    /** Sends an object, and ends the connection after {@code sent} bytes of it. */
    public static void content(OutputStream out, Map<String, String> request, byte[] content, int sent)
            throws IOException {
        int first = first(request);
        String head = request.containsKey("range")
                ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + first + "-" + (content.length - 1) + "/"
                        + content.length
                : "HTTP/1.1 200 OK";
        out.write((head + "\r\nETag: \"" + md5(content) + "\"\r\nConnection: close\r\nContent-Length: "
                        + (content.length - first) + "\r\n\r\n")
                .getBytes(StandardCharsets.UTF_8));
        out.write(content, first, Math.max(0, Math.min(content.length, sent) - first));
    }

    /** Sends a response. */
    public static void status(OutputStream out, String status, String body, String... headers) throws IOException {
        StringBuilder head = new StringBuilder("HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Length: "
                + body.getBytes(StandardCharsets.UTF_8).length + "\r\n");
        for (String header : headers) {
            head.append(header).append("\r\n");
        }
        out.write((head + "\r\n" + body).getBytes(StandardCharsets.UTF_8));
    }

    /** Sends {@code unit} until the client has enough. */
    public static void endless(OutputStream out, String begin, String unit) throws IOException {
        out.write(("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + begin).getBytes(StandardCharsets.UTF_8));
        byte[] bytes = unit.getBytes(StandardCharsets.UTF_8);
        while (true) {
            out.write(bytes);
        }
    }

    private void list(String query, OutputStream out) throws IOException {
        String prefix = "";
        boolean deep = true;
        for (String parameter : query.split("&", -1)) {
            if (parameter.startsWith("prefix=")) {
                prefix = java.net.URLDecoder.decode(parameter.substring(7), StandardCharsets.UTF_8);
            }
            deep &= !parameter.startsWith("delimiter=");
        }
        Map<String, Long> sizes = new TreeMap<>(rumours);
        objects.forEach((name, content) -> sizes.put(name, (long) content.length));
        StringBuilder xml =
                new StringBuilder("<?xml version=\"1.0\"?><ListBucketResult><EncodingType>url</EncodingType>"
                        + "<IsTruncated>false</IsTruncated>");
        List<String> folders = new ArrayList<>();
        for (Map.Entry<String, Long> object : sizes.entrySet()) {
            String name = object.getKey();
            if (!name.startsWith(prefix)) {
                continue;
            }
            int slash = name.indexOf('/', prefix.length());
            if (!deep && slash >= 0) {
                String folder = name.substring(0, slash + 1);
                if (!folders.contains(folder)) {
                    folders.add(folder);
                    xml.append("<CommonPrefixes><Prefix>")
                            .append(java.net.URLEncoder.encode(folder, StandardCharsets.UTF_8))
                            .append("</Prefix></CommonPrefixes>");
                }
                continue;
            }
            byte[] content = objects.getOrDefault(name, new byte[0]);
            xml.append("<Contents><Key>")
                    .append(java.net.URLEncoder.encode(name, StandardCharsets.UTF_8))
                    .append("</Key><ETag>\"")
                    .append(md5(content))
                    .append("\"</ETag><Size>")
                    .append(object.getValue())
                    .append("</Size></Contents>");
        }
        status(out, "200 OK", xml + "</ListBucketResult>");
    }

    private static String md5(byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(content));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
            for (Socket connection : connections) {
                connection.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
