// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.memory.tensor.GatunException;
import gatun.runtime.logging.LogControl;
import gatun.runtime.logging.LogSettings;
import gatun.runtime.logging.LogSettings.LogFormat;
import gatun.wire.inference.LogSettingsRequest;
import gatun.wire.inference.LogSettingsRequest.SettingValue.ParameterChoiceCase;
import gatun.wire.inference.LogSettingsResponse;
import java.nio.file.Path;
import java.util.Map;

final class LogSettingsMessages {
    private LogSettingsMessages() {}

    static LogSettingsResponse of(LogSettings settings) {
        return LogSettingsResponse.newBuilder()
                .putSettings(
                        "log_file", text(settings.file().map(Path::toString).orElse("")))
                .putSettings("log_info", flag(settings.info()))
                .putSettings("log_warning", flag(settings.warning()))
                .putSettings("log_error", flag(settings.error()))
                .putSettings(
                        "log_verbose_level",
                        LogSettingsResponse.SettingValue.newBuilder()
                                .setUint32Param(settings.verbosity())
                                .build())
                .putSettings("log_format", text(settings.format().wireName()))
                .build();
    }

    /** {@code before} with a request's changes. Throws INVALID_ARGUMENT for a wrong type, UNSUPPORTED for the file. */
    static LogSettings changed(LogSettings before, Map<String, LogSettingsRequest.SettingValue> changes) {
        LogSettings settings = before;
        for (Map.Entry<String, LogSettingsRequest.SettingValue> change : changes.entrySet()) {
            String name = change.getKey();
            LogSettingsRequest.SettingValue value = change.getValue();
            settings = switch (name) {
                case "log_file" -> throw LogControl.fileIsFixed();
                case "log_info" -> settings.withInfo(flag(name, value));
                case "log_warning" -> settings.withWarning(flag(name, value));
                case "log_error" -> settings.withError(flag(name, value));
                case "log_verbose_level" -> settings.withVerbosity(verbosity(value));
                case "log_format" -> settings.withFormat(format(value));
                default -> settings;
            };
        }
        return settings;
    }

    private static boolean flag(String name, LogSettingsRequest.SettingValue value) {
        require(value, ParameterChoiceCase.BOOL_PARAM, "expect boolean for '" + name + "'");
        return value.getBoolParam();
    }

    private static int verbosity(LogSettingsRequest.SettingValue value) {
        require(value, ParameterChoiceCase.UINT32_PARAM, "expect int32 for 'log_verbose_level'");
        int level = value.getUint32Param();
        return level < 0 ? Integer.MAX_VALUE : level;
    }

    private static LogFormat format(LogSettingsRequest.SettingValue value) {
        require(value, ParameterChoiceCase.STRING_PARAM, "expect string for 'log_format'");
        return LogFormat.of(value.getStringParam())
                .orElseThrow(() -> GatunException.invalidArgument(
                        "invalid argument for log_format, got: " + value.getStringParam()));
    }

    private static void require(LogSettingsRequest.SettingValue value, ParameterChoiceCase expected, String otherwise) {
        if (value.getParameterChoiceCase() != expected) {
            throw GatunException.invalidArgument(otherwise);
        }
    }

    private static LogSettingsResponse.SettingValue text(String text) {
        return LogSettingsResponse.SettingValue.newBuilder()
                .setStringParam(text)
                .build();
    }

    private static LogSettingsResponse.SettingValue flag(boolean value) {
        return LogSettingsResponse.SettingValue.newBuilder().setBoolParam(value).build();
    }
}
