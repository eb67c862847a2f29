// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.access;

import gatun.spi.Setting;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The host names by which clients may address the server: IP addresses, {@code localhost}, the machine's own name, and
 * the names that the operator listed. A page in a browser can have its own name resolve to this machine; the browser
 * then takes the server for the page's own, and only the host name of the request tells the difference. Thread-safe.
 */
public final class HostNames {
    private static final String ANY = "*";
    private static final String LOCALHOST = "localhost";
    private static final Path HOSTNAME = Path.of("/proc/sys/kernel/hostname");

    /** The most characters of a name in DNS, and of a colon and a port. */
    private static final int MOST_CHARS = 253 + 6;

    private static final int MOST_PORT_DIGITS = 5;

    /** The most characters of a client's host that an error repeats. */
    private static final int SHOWN_CHARS = 200;

    private static final int MOST_IPV4_PARTS = 4;

    private final Set<String> listed;
    private final String machine;

    /** Finds the machine's fully qualified name, on a thread of its own: a resolver may take seconds. */
    private final FutureTask<String> qualified;

    private final AtomicBoolean lookedUp = new AtomicBoolean();

    /** The names of this machine and {@code listed} ones, without ports; {@code *} stands for any. */
    public HostNames(Set<String> listed) {
        this(listed, hostName(), HostNames::canonicalName);
    }

    /** {@code lookUp} finds the fully qualified name; called once, by the first request that may be for it. */
    HostNames(Set<String> listed, String machine, Supplier<String> lookUp) {
        this.listed = listed.stream().map(HostNames::plain).collect(Collectors.toUnmodifiableSet());
        this.machine = plain(machine);
        this.qualified = new FutureTask<>(() -> plain(lookUp.get()));
    }

    /** Accepts any name. */
    public static HostNames any() {
        return new HostNames(Set.of(ANY), "", () -> "");
    }

    /** Whether every name is accepted, so that none need be looked at. */
    public boolean acceptAny() {
        return listed.contains(ANY);
    }

    /** Whether a client's requests must name one of these hosts: those that a browser on this machine may send. */
    public boolean mustCheck(SocketAddress remote, PeerLocation location) {
        return location == PeerLocation.THIS_MACHINE && remote instanceof InetSocketAddress && !acceptAny();
    }

    /** Whether requests to {@code authority}, a host and perhaps a colon and a port, are for this server. */
    public boolean accept(String authority) {
        if (acceptAny()) {
            return true;
        }
        if (authority.isEmpty() || authority.length() > MOST_CHARS) {
            return false;
        }
        int end = hostEnd(authority);
        if (!isPort(authority, end)) {
            return false;
        }
        String host = authority.substring(0, end);
        return isAddress(host) || acceptName(plain(host));
    }

    private boolean acceptName(String name) {
        return name.equals(LOCALHOST)
                || listed.contains(name)
                || (!machine.isEmpty() && (name.equals(machine) || isQualified(name)));
    }

    private boolean isQualified(String name) {
        int dot = machine.indexOf('.');
        String label = dot < 0 ? machine : machine.substring(0, dot);
        return name.startsWith(label + ".") && name.equals(qualified());
    }

    private String qualified() {
        if (lookedUp.compareAndSet(false, true)) {
            Thread.ofPlatform().daemon().name("host-name").start(qualified);
        }
        try {
            return qualified.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        } catch (ExecutionException e) {
            return ""; // a name that cannot be found is none
        }
    }

    /** The message to a client whose request is for {@code authority}, which is refused; empty for no host. */
    public static String refusal(String authority) {
        return (authority.isEmpty() ? "the request names no host" : foreign(authority))
                + ": expected an IP address, localhost, this machine's name, or a name that the server's "
                + Setting.ALLOW_HOST + " lists; start the server with '" + Setting.ALLOW_HOST.with("NAME")
                + "' for one more name";
    }

    private static String foreign(String authority) {
        String shown = authority.length() <= SHOWN_CHARS ? authority : authority.substring(0, SHOWN_CHARS) + "...";
        return "the request is for host '" + shown + "', which is not a name of this server";
    }

    /** Where the host ends: before the colon of a port, or at the end. */
    private static int hostEnd(String authority) {
        int bracket = authority.lastIndexOf(']');
        int colon = authority.indexOf(':', bracket + 1);
        return colon < 0 ? authority.length() : colon;
    }

    /** Whether nothing follows the host, or a colon and a port, which some clients leave empty. */
    private static boolean isPort(String authority, int begin) {
        if (authority.length() - begin > 1 + MOST_PORT_DIGITS) {
            return false;
        }
        for (int i = begin + 1; i < authority.length(); i++) {
            if (!isDigit(authority.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isAddress(String host) {
        return host.startsWith("[") ? isIpv6(host) : isIpv4(host);
    }

    /** Whether it is one to four numbers with dots: an IPv4 address, also in a form that C programs take. */
    private static boolean isIpv4(String host) {
        int parts = 1;
        boolean empty = true;
        for (int i = 0; i < host.length(); i++) {
            if (isDigit(host.charAt(i))) {
                empty = false;
            } else if (host.charAt(i) == '.' && !empty) {
                parts++;
                empty = true;
            } else {
                return false;
            }
        }
        return !empty && parts <= MOST_IPV4_PARTS;
    }

    /** Whether it is between brackets what only an address can be: the rest is for nobody to resolve. */
    private static boolean isIpv6(String host) {
        int end = host.length() - 1;
        int zone = host.indexOf('%');
        int addressEnd = zone < 0 ? end : zone;
        boolean colon = false;
        for (int i = 1; i < addressEnd; i++) {
            char c = host.charAt(i);
            colon |= c == ':';
            if (c != ':' && c != '.' && Character.digit(c, 16) < 0) {
                return false;
            }
        }
        return colon && host.charAt(end) == ']';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** Lower case, and without the dot that ends a fully qualified name. */
    private static String plain(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
    }

    private static String hostName() {
        try {
            return Files.readString(HOSTNAME).strip();
        } catch (IOException e) {
            return localHost(InetAddress::getHostName);
        }
    }

    private static String canonicalName() {
        return localHost(InetAddress::getCanonicalHostName);
    }

    private interface NameOf {
        String of(InetAddress address);
    }

    private static String localHost(NameOf name) {
        try {
            return name.of(InetAddress.getLocalHost());
        } catch (UnknownHostException e) {
            return ""; // a machine without a name is addressed by others
        }
    }
}
