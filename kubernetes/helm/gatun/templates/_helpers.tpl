{{- define "gatun.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gatun.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gatun.labels" -}}
{{ include "gatun.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "gatun.checks" -}}
{{- $readiness := .Values.probes.readiness -}}
{{- $notice := mul $readiness.periodSeconds $readiness.failureThreshold -}}
{{- if le (int .Values.drainSeconds) (int $notice) -}}
{{- fail (printf "drainSeconds is %d: expected more than the %d seconds in which the readiness probe (periodSeconds x failureThreshold) notices that the Pod stops" (int .Values.drainSeconds) (int $notice)) -}}
{{- end -}}
{{- if not .Values.models.volume -}}
{{- fail "models.volume is empty: expected the volume with the models, such as {persistentVolumeClaim: {claimName: models}}" -}}
{{- end -}}
{{- end -}}
