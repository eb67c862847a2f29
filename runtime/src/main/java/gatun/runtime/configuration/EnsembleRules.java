// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelEnsembling.Step;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** Checks the configuration of an ensemble by itself; whether it fits its members is checked when those are loaded. */
final class EnsembleRules {
    static final String PLATFORM = "ensemble";

    private final ModelConfig config;

    /** Every ensemble tensor, by name, so that the first that is wrong is always the same. */
    private final SortedMap<String, Node> tensors = new TreeMap<>();

    /** A tensor of the ensemble and what it is made from. */
    private static final class Node {
        final List<String> sources = new ArrayList<>();
        final List<String> results = new ArrayList<>();
        boolean written;
        boolean used;
        boolean ready;
    }

    private EnsembleRules(ModelConfig config) {
        this.config = config;
    }

    static boolean apply(ModelConfig config) {
        return config.hasEnsembleScheduling() || config.getPlatform().equals(PLATFORM);
    }

    /** Throws ConfigurationException with the first rule that {@code config}, to which these rules apply, breaks. */
    static void check(ModelConfig config) {
        String name = config.getName();
        require(
                !config.getPlatform().equals(PLATFORM) || config.getBackend().isEmpty(),
                ConfigurationPath.of("backend"),
                "Ensemble model '" + name + "' must have platform type 'ensemble' and empty backend type");
        require(
                config.getPlatform().equals(PLATFORM),
                ConfigurationPath.of("platform"),
                "ensemble scheduling cannot be set for model '" + name + "' whose platform is not ensemble");
        require(
                config.hasEnsembleScheduling(),
                ConfigurationPath.of("platform"),
                "ensemble scheduling must be set for ensemble " + name + " whose platform is ensemble");
        require(
                config.getInstanceGroupCount() == 0,
                ConfigurationPath.of("instance_group"),
                "instance group should not be specified for ensemble '" + name + "'");
        require(
                !config.hasOptimization(),
                ConfigurationPath.of("optimization"),
                "optimization should not be specified for ensemble '" + name + "'");
        require(
                config.getModelWarmupCount() == 0,
                ConfigurationPath.of("model_warmup"),
                "model_warmup can not be specified for ensemble '" + name + "'");
        require(
                config.getEnsembleScheduling().getStepCount() > 0,
                ConfigurationPath.of("ensemble_scheduling"),
                "must specify 'step' for ensemble '" + name + "'");
        EnsembleRules rules = new EnsembleRules(config);
        rules.connect();
        rules.checkFlow();
    }

    private void connect() {
        for (ModelInput input : config.getInputList()) {
            node(input.getName()).written = true;
        }
        List<Step> steps = config.getEnsembleScheduling().getStepList();
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            ConfigurationPath path = step(i);
            String where = " in step " + i + " of ensemble '" + config.getName() + "'";
            require(!step.getModelName().isEmpty(), path, "must specify 'model_name'" + where);
            require(step.getInputMapCount() > 0, path, "must specify 'input_map'" + where);
            require(step.getOutputMapCount() > 0, path, "must specify 'output_map'" + where);
            connect(step, i);
        }
    }

    private void connect(Step step, int index) {
        for (String output : step.getOutputMapMap().values()) {
            Node node = node(output);
            require(
                    !node.written,
                    step(index).then("output_map"),
                    "ensemble tensor '" + output + "' can appear in an output map only once for ensemble '"
                            + config.getName() + "' step " + index);
            node.written = true;
            node.used = true;
        }
        for (String input : step.getInputMapMap().values()) {
            Node source = node(input);
            source.used = true;
            for (String output : step.getOutputMapMap().values()) {
                source.results.add(output);
                node(output).sources.add(input);
            }
        }
    }

    private Node node(String tensor) {
        return tensors.computeIfAbsent(tensor, name -> new Node());
    }

    private void checkFlow() {
        Deque<Node> ready = new ArrayDeque<>();
        for (ModelInput input : config.getInputList()) {
            Node node = node(input.getName());
            require(
                    node.used,
                    tensor("input", input.getName()),
                    "ensemble input '" + input.getName() + "' for ensemble " + config.getName() + "' is not used");
            node.ready = true;
            ready.add(node);
        }
        for (Node next = ready.poll(); next != null; next = ready.poll()) {
            for (String result : next.results) {
                Node node = node(result);
                if (!node.ready && node.sources.stream().allMatch(source -> node(source).ready)) {
                    node.ready = true;
                    ready.add(node);
                }
            }
        }
        Set<String> outputs = new HashSet<>();
        for (ModelOutput output : config.getOutputList()) {
            checkOutput(output.getName());
            outputs.add(output.getName());
        }
        tensors.forEach((tensor, node) -> require(
                outputs.contains(tensor) || (node.ready && !node.results.isEmpty()),
                ConfigurationPath.of("ensemble_scheduling"),
                "ensemble tensor '" + tensor + "' is unused in ensemble '" + config.getName() + "'"));
    }

    private void checkOutput(String output) {
        Optional<Node> node = Optional.ofNullable(tensors.get(output));
        require(
                node.isPresent(),
                tensor("output", output),
                "ensemble output '" + output + "' for ensemble " + config.getName() + "' is not used");
        if (node.get().ready) {
            return;
        }
        Optional<String> missing = node.get().sources.stream()
                .filter(source -> !node(source).ready)
                .findFirst();
        throw new ConfigurationException(
                tensor("output", output),
                "output '" + output + "' for ensemble '" + config.getName()
                        + "' is not written"
                        + missing.map(tensor ->
                                        ": at least one of its depending tensors, '" + tensor + "', is not connected")
                                .orElse(""));
    }

    private static ConfigurationPath step(int index) {
        return ConfigurationPath.of("ensemble_scheduling").then("step", Integer.toString(index));
    }

    private static ConfigurationPath tensor(String kind, String name) {
        return ConfigurationPath.of(kind, name);
    }

    private static void require(boolean holds, ConfigurationPath path, String otherwise) {
        if (!holds) {
            throw new ConfigurationException(path, otherwise);
        }
    }
}
