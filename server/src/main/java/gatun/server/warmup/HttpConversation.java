// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Requests of HTTP/1.1 in turns, each a text that is sent as it is. */
final class HttpConversation implements WarmUpConnection {
    private static final String LENGTH = "\r\ncontent-length:";
    private static final int STATUS = "HTTP/1.1 ".length();
    private static final int LONGEST_HEAD = 8192;

    private static final int OK = 200;

    private final ClientSocket socket;
    private final List<Request> requests;
    private final StringBuilder head = new StringBuilder();
    private int turn;

    private HttpConversation(ClientSocket socket, List<Request> requests) {
        this.socket = socket;
        this.requests = requests;
    }

    /** {@code bytes} has all of it, from the first line to the end of the body; nobody moves its position. */
    record Request(ByteBuffer bytes, int status) {}

    static HttpConversation begin(SocketAddress address, List<Request> requests) throws IOException {
        return new HttpConversation(ClientSocket.connect(address), requests);
    }

    @Override
    public void send() throws IOException {
        socket.write(requests.get(turn).bytes().duplicate());
    }

    @Override
    public void receive() throws IOException {
        readHead();
        requireStatus(requests.get(turn).status());
        turn = (turn + 1) % requests.size();
        socket.skip(bodyLength());
    }

    private void readHead() throws IOException {
        head.setLength(0);
        int endings = 0;
        while (endings < 4) { // \r\n\r\n
            int read = socket.read();
            endings = read == (endings % 2 == 0 ? '\r' : '\n') ? endings + 1 : 0;
            head.append((char) (read >= 'A' && read <= 'Z' ? read + 'a' - 'A' : read));
            if (head.length() > LONGEST_HEAD) {
                throw new IOException("the head of a response is longer than " + LONGEST_HEAD + " bytes");
            }
        }
    }

    private void requireStatus(int expected) throws IOException {
        String status = head.substring(STATUS, head.indexOf(" ", STATUS));
        if (!status.equals(Integer.toString(expected))) {
            throw new IOException("a request was answered with status " + status + ": expected " + expected);
        }
    }

    private long bodyLength() throws IOException {
        int field = head.indexOf(LENGTH);
        if (field < 0) {
            throw new IOException("a response does not tell its length");
        }
        int begin = field + LENGTH.length();
        return Long.parseLong(head.substring(begin, head.indexOf("\r", begin)).strip());
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    /** A POST that is answered with 200. {@code fields} are more header lines, each with its end. */
    static Request post(String path, String fields, byte[] body) {
        byte[] head = ("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "Content-Length: " + body.length
                        + "\r\n\r\n")
                .getBytes(StandardCharsets.ISO_8859_1);
        return new Request(
                ByteBuffer.allocate(head.length + body.length)
                        .put(head)
                        .put(body)
                        .flip(),
                OK);
    }

    /** A request of GET that is answered with 200. */
    static Request get(String path) {
        String head = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: gatun\r\nAccept: */*\r\n\r\n";
        return new Request(ByteBuffer.wrap(head.getBytes(StandardCharsets.ISO_8859_1)), OK);
    }
}
