// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.memory.tensor.IoFailure;
import gatun.server.commandline.FlagErrors.FlagNames;
import gatun.server.commandline.SettingSources.SettingSource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.YamlUnicodeReader;
import org.snakeyaml.engine.v2.composer.Composer;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.parser.ParserImpl;
import org.snakeyaml.engine.v2.scanner.StreamReader;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Flags in YAML: {@code http: {port: 8000}} is {@code --http-port=8000}, and a list the values of one flag. */
final class ConfigurationFile {
    private final Path file;
    private final CommandSpec command;
    private final List<SettingSource> found = new ArrayList<>();

    private ConfigurationFile(Path file, CommandSpec command) {
        this.file = file;
        this.command = command;
    }

    /** Throws {@link InvalidFileException} when the file cannot be read, is no YAML, or has a key that is no flag. */
    static List<SettingSource> read(Path file, CommandSpec command) {
        ConfigurationFile reader = new ConfigurationFile(file, command);
        reader.document().ifPresent(root -> reader.section("", root));
        return reader.found;
    }

    /** Says what is wrong with a file, and where. */
    static final class InvalidFileException extends RuntimeException {
        private static final long serialVersionUID = 1;

        InvalidFileException(String message, Throwable cause) {
            super(message, cause);
        }

        InvalidFileException(String message) {
            super(message);
        }

        @Override
        public String getMessage() {
            return String.valueOf(super.getMessage());
        }
    }

    private Optional<Node> document() {
        LoadSettings settings = LoadSettings.builder().setLabel(file.toString()).build();
        try (InputStream bytes = Files.newInputStream(file)) {
            StreamReader reader = new StreamReader(settings, new YamlUnicodeReader(bytes));
            return new Composer(settings, new ParserImpl(settings, reader)).getSingleNode();
        } catch (MarkedYamlEngineException e) {
            String where = e.getProblemMark().map(this::place).orElse(file.toString());
            throw new InvalidFileException(where + ": " + e.getProblem(), e);
        } catch (YamlEngineException e) {
            throw new InvalidFileException(file + " is no YAML: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new InvalidFileException(
                    "the configuration file " + file + " cannot be read: " + IoFailure.reason(e), e);
        }
    }

    private String place(Mark mark) {
        return file + ":" + (mark.getLine() + 1) + ":" + (mark.getColumn() + 1);
    }

    private String place(Node node) {
        return node.getStartMark().map(this::place).orElse(file.toString());
    }

    private void section(String prefix, Node node) {
        if (!(node instanceof MappingNode mapping)) {
            throw new InvalidFileException(place(node) + ": expected keys and values, such as 'http-port: 8000'");
        }
        for (NodeTuple entry : mapping.getValue()) {
            if (!(entry.getKeyNode() instanceof ScalarNode key)) {
                throw new InvalidFileException(place(entry.getKeyNode()) + ": a key must be the name of a flag");
            }
            String name = prefix + key.getValue();
            OptionSpec flag = command.optionsMap().get(FlagNames.DASHES + name);
            if (flag != null && !(entry.getValueNode() instanceof MappingNode)) {
                found.add(new SettingSource(flag, values(name, flag, entry.getValueNode()), place(key) + ": " + name));
            } else if (entry.getValueNode() instanceof MappingNode) {
                section(name + "-", entry.getValueNode());
            } else {
                throw unknown(key, name);
            }
        }
    }

    private InvalidFileException unknown(ScalarNode key, String name) {
        List<String> flags = command.optionsMap().keySet().stream()
                .filter(known -> known.startsWith(FlagNames.DASHES))
                .map(known -> known.substring(FlagNames.DASHES.length()))
                .toList();
        String nearest = NearestFlag.to(name, flags)
                .map(known -> " Did you mean " + known + "?")
                .orElse("");
        return new InvalidFileException(place(key) + ": there is no setting '" + name + "'." + nearest);
    }

    private List<String> values(String name, OptionSpec flag, Node node) {
        if (node instanceof SequenceNode list) {
            if (!flag.isMultiValue()) {
                throw new InvalidFileException(place(node) + ": '" + name + "' takes one value and not a list");
            }
            return list.getValue().stream().map(one -> scalar(name, one)).toList();
        }
        return List.of(scalar(name, node));
    }

    private String scalar(String name, Node node) {
        if (node instanceof ScalarNode scalar && !scalar.getTag().equals(Tag.NULL)) {
            return scalar.getValue();
        }
        throw new InvalidFileException(place(node) + ": '" + name + "' needs a value");
    }
}
