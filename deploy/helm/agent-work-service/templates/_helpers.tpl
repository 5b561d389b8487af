{{- define "svc.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "svc.labels" -}}
app.kubernetes.io/name: agent-work-service
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* The labels by which a Deployment, a Service and a policy find the pods of a role. */}}
{{- define "svc.selector" -}}
app.kubernetes.io/name: agent-work-service
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* The setting of each key that the Secret may have. */}}
{{- define "svc.optionalSecrets" -}}
founder_api_key: SVC_FOUNDER_API_KEY_FILE
anthropic_api_key: ANTHROPIC_API_KEY_FILE
openai_api_key: OPENAI_API_KEY_FILE
broker_api_key: BROKER_API_KEY_FILE
aws_access_key_id: AWS_ACCESS_KEY_ID_FILE
aws_secret_access_key: AWS_SECRET_ACCESS_KEY_FILE
{{- end }}

{{/* The settings of a role. Every secret is a file, because a variable is visible to all processes of the user. */}}
{{- define "svc.env" -}}
{{- $known := include "svc.optionalSecrets" .root | fromYaml -}}
{{- $given := merge (dict) .values.settings .root.Values.settings -}}
- { name: SVC_ROLE, value: {{ .role }} }
- { name: SVC_HOST, value: 0.0.0.0 }
- { name: SVC_PORT, value: '8787' }
- { name: SVC_DATA_DIR, value: /data }
- { name: SVC_METRICS_PORT, value: '9464' }
- { name: SVC_METRICS_HOST, value: 0.0.0.0 }
- { name: SVC_METRICS_TOKEN_FILE, value: /run/secrets/svc/metrics_token }
- { name: DATABASE_URL_FILE, value: /run/secrets/svc/database_url }
- { name: SVC_SECRET_KEY_FILE, value: /run/secrets/svc/secret_key }
{{- if eq .role "api" }}
- { name: SVC_DRAIN_DELAY_S, value: {{ .values.drainDelaySeconds | quote }} }
{{- else }}
- { name: SVC_MAX_CONCURRENT_TASKS, value: {{ .values.maxConcurrentTasks | quote }} }
{{- end }}
{{- range .root.Values.optionalSecretKeys }}
{{- if not (hasKey $known .) }}{{ fail (printf "optionalSecretKeys: unknown key %s" .) }}{{ end }}
- name: {{ get $known . }}
  value: /run/secrets/svc/{{ . }}
{{- end }}
{{- range $name, $value := $given }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}

{{- define "svc.probes" -}}
# The server listens when the schema is up to date, which can take minutes after an upgrade.
startupProbe:
  httpGet: { path: /livez, port: http }
  periodSeconds: 5
  failureThreshold: 120
livenessProbe:
  httpGet: { path: /livez, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 2
  timeoutSeconds: 5
  {{- /* For 30 s, the default of SVC_DATABASE_WAIT_S: while the database is away, requests wait in the pods. */}}
  failureThreshold: 15
{{- end }}

{{- define "svc.volumeMounts" -}}
- { name: data, mountPath: /data }
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /run/secrets/svc, readOnly: true }
{{- if .Values.wedges.existingClaim }}
- { name: wedges, mountPath: /app/wedges, readOnly: true }
{{- end }}
{{- end }}

{{- define "svc.volumes" -}}
# The sockets of sandboxes; all state is in PostgreSQL.
- { name: data, emptyDir: {} }
- { name: tmp, emptyDir: {} }
- name: secrets
  secret:
    secretName: {{ .Values.existingSecret }}
    defaultMode: 0440
    items:
      - { key: database_url, path: database_url }
      - { key: secret_key, path: secret_key }
      - { key: metrics_token, path: metrics_token }
      {{- range .Values.optionalSecretKeys }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- if .Values.wedges.existingClaim }}
- name: wedges
  persistentVolumeClaim: { claimName: {{ .Values.wedges.existingClaim }}, readOnly: true }
{{- end }}
{{- end }}

{{- define "svc.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
