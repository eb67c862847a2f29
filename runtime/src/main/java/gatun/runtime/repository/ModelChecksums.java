// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.runtime.configuration.ModelFiles.FileNames;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelRepositoryAgents;
import gatun.wire.inference.ModelRepositoryAgents.Agent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** The checksums of a model's files, as configured for Triton's repository agent {@code checksum}. Thread-safe. */
final class ModelChecksums {
    /** Triton's name of the agent. */
    private static final String AGENT = "checksum";

    private static final String MD5 = "md5";
    private static final int CHUNK_BYTE_SIZE = 1 << 20;

    /** A file and its checksum. */
    private record Expected(String name, String expected) {}

    /** What changes with every write to a file. */
    private static final String ATTRIBUTES = "unix:ino,size,lastModifiedTime,ctime";

    private final Path modelDirectory;
    private final List<Expected> files;

    private final ReentrantLock verifying = new ReentrantLock();

    /** The attributes of the files that had their checksums, as they were then. Guarded by the lock. */
    private final Map<String, Map<String, Object>> verified = new HashMap<>();

    private ModelChecksums(Path modelDirectory, List<Expected> files) {
        this.modelDirectory = modelDirectory;
        this.files = files;
    }

    /** No file is read. Throws ConfigurationException for another agent or algorithm, or a file outside the folder. */
    static ModelChecksums of(ModelRepositoryAgents agents, Path modelDirectory) {
        List<Expected> files = new ArrayList<>();
        for (int i = 0; i < agents.getAgentsCount(); i++) {
            Agent agent = agents.getAgents(i);
            ConfigurationPath path =
                    ConfigurationPath.of("model_repository_agents").then("agents", Integer.toString(i));
            if (!agent.getName().equals(AGENT)) {
                throw new ConfigurationException(
                        path,
                        "there is no repository agent '" + agent.getName() + "', which the configuration names; known: "
                                + AGENT + ". Have the model's files put where they are served before, and leave the"
                                + " agent out");
            }
            agent.getParametersMap()
                    .forEach((key, checksum) ->
                            files.add(new Expected(file(key, path.then("parameters", key)), checksum)));
        }
        return new ModelChecksums(modelDirectory, List.copyOf(files));
    }

    private static String file(String key, ConfigurationPath path) {
        int colon = key.indexOf(':');
        if (colon < 0) {
            throw new ConfigurationException(
                    path, "failed to parse key: " + key + "; expected MD5: and a file, such as MD5:1/model.onnx");
        }
        if (!key.substring(0, colon).toLowerCase(Locale.ROOT).equals(MD5)) {
            throw new ConfigurationException(
                    path,
                    "Unsupported checksum algorithm: " + key.substring(0, colon)
                            + "; expected MD5, as Triton's agent has no other");
        }
        String name = key.substring(colon + 1);
        if (name.isEmpty() || !FileNames.staysInside(name)) {
            throw new ConfigurationException(
                    path,
                    "the checksum agent is to read '" + name + "', which may lead out of the model's folder; expected a"
                            + " relative path without '..'");
        }
        return name;
    }

    /** Checks all files changed since the last call. Throws INVALID_ARGUMENT, or UNAVAILABLE when interrupted. */
    void verify() {
        verifying.lock();
        try {
            for (Expected file : files) {
                verify(file);
            }
        } finally {
            verifying.unlock();
        }
    }

    private void verify(Expected file) {
        Path path = modelDirectory.resolve(file.name());
        Map<String, Object> attributes;
        String found;
        try {
            // Before the file is read, so that what is written meanwhile is read again.
            attributes = Files.readAttributes(path, ATTRIBUTES);
            if (attributes.equals(verified.get(file.name()))) {
                return;
            }
            found = md5(path);
        } catch (ClosedByInterruptException e) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE, "interrupted while the checksum of " + path + " was computed", e);
        } catch (IOException e) {
            throw GatunException.invalidArgument("the checksum of '" + file.name()
                    + "' cannot be compared, since the file cannot be read: " + IoFailure.reason(e));
        }
        if (!found.equalsIgnoreCase(file.expected())) {
            throw GatunException.invalidArgument("Mismatched MD5 hash for file " + file.name() + ", expect: "
                    + file.expected() + ", got: " + found + "; copy the file here again, or correct"
                    + " model_repository_agents");
        }
        verified.put(file.name(), attributes);
    }

    private static String md5(Path file) throws IOException {
        MessageDigest digest = digest();
        ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTE_SIZE);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            while (channel.read(chunk.clear()) >= 0) {
                digest.update(chunk.flip());
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException e) {
            throw new GatunException(ErrorCode.UNSUPPORTED, "this Java has no MD5, which the checksum agent needs", e);
        }
    }
}
