{{- define "headrace.name" -}}
{{- if contains "headrace" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-headrace" (.Release.Name | trunc 31 | trimSuffix "-") }}{{ end -}}
{{- end }}

{{- define "headrace.selector" -}}
app.kubernetes.io/name: headrace
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "headrace.labels" -}}
{{ include "headrace.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{/* The Secret with a role's certificate. */}}
{{- define "headrace.tlsSecret" -}}
{{- $given := get .root.Values.tls.secrets .role -}}
{{- if $given }}{{ $given }}{{ else }}{{ include "headrace.name" .root }}-{{ .role }}-tls{{ end -}}
{{- end }}

{{/* Where runners find the workers. */}}
{{- define "headrace.workerHost" -}}
{{ include "headrace.name" . }}-worker.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- end }}

{{- define "headrace.tlsEnv" -}}
- { name: HEADRACE_TLS_CERT_FILE, value: /etc/headrace/tls/tls.crt }
- { name: HEADRACE_TLS_KEY_FILE, value: /etc/headrace/tls/tls.key }
- { name: HEADRACE_TLS_CA_FILE, value: /etc/headrace/tls/ca.crt }
{{- if .Values.tls.revocations }}
- { name: HEADRACE_TLS_CRL_FILE, value: /etc/headrace/revocations/ca.crl }
{{- end }}
{{- end }}

{{/* Whole folders: a single file that is mounted by a subPath would never change. */}}
{{- define "headrace.tlsMounts" -}}
- { name: tls, mountPath: /etc/headrace/tls, readOnly: true }
{{- if .Values.tls.revocations }}
- { name: revocations, mountPath: /etc/headrace/revocations, readOnly: true }
{{- end }}
{{- end }}

{{/* Of a role. `mode`: as in a Secret's defaultMode. */}}
{{- define "headrace.tlsVolumes" -}}
- name: tls
  secret: { secretName: {{ include "headrace.tlsSecret" . }}, defaultMode: {{ .mode }} }
{{- with .root.Values.tls.revocations }}
- name: revocations
  configMap: { name: {{ . }} }
{{- end }}
{{- end }}

{{/* What a process that opens the database needs. Secrets come as files: variables show in the runtime's descriptions. */}}
{{- define "headrace.databaseEnv" -}}
- { name: DATABASE_URL_FILE, value: /etc/headrace/database/url }
{{- if .Values.database.hasDirectUrl }}
- { name: DATABASE_DIRECT_URL_FILE, value: /etc/headrace/database/directUrl }
{{- end }}
- { name: HEADRACE_DATABASE_CONNECTIONS, value: {{ .Values.database.connections | quote }} }
- { name: HEADRACE_SECRET_KEY_FILE, value: /etc/headrace/secret-key/key }
{{- if .Values.secretKey.hasFormerKeys }}
- { name: HEADRACE_FORMER_SECRET_KEYS_FILE, value: /etc/headrace/secret-key/formerKeys }
{{- end }}
{{- end }}

{{- define "headrace.databaseMounts" -}}
- { name: database, mountPath: /etc/headrace/database, readOnly: true }
- { name: secret-key, mountPath: /etc/headrace/secret-key, readOnly: true }
{{- end }}

{{- define "headrace.databaseVolumes" -}}
- name: database
  secret: { secretName: {{ required "database.secret has to name a Secret" .Values.database.secret }}, defaultMode: 0440 }
- name: secret-key
  secret: { secretName: {{ required "secretKey.secret has to name a Secret" .Values.secretKey.secret }}, defaultMode: 0440 }
{{- end }}

{{- define "headrace.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
# A shared volume may hold millions of files.
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "headrace.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Pods of a role on different nodes where there are several. */}}
{{- define "headrace.spread" -}}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "headrace.selector" . | nindent 6 }}
{{- end }}

{{/* Environment of api and worker. */}}
{{- define "headrace.serviceEnv" -}}
- { name: HEADRACE_ROLES, value: {{ .role }} }
# The volume itself is open to its group.
- { name: HEADRACE_DATA_DIR, value: /var/lib/headrace/data }
{{ include "headrace.databaseEnv" .root }}
{{ include "headrace.tlsEnv" .root }}
{{- with .root.Values }}
{{- if .publicUrl }}
- { name: HEADRACE_PUBLIC_URL, value: {{ .publicUrl | quote }} }
{{- end }}
{{- if .previewUrl }}
- { name: HEADRACE_PREVIEW_URL, value: {{ .previewUrl | quote }} }
{{- end }}
{{- if .trustedProxies }}
- { name: HEADRACE_TRUSTED_PROXIES, value: {{ join "," .trustedProxies | quote }} }
{{- end }}
{{- if .s3.bucket }}
- { name: HEADRACE_S3_BUCKET, value: {{ .s3.bucket | quote }} }
- { name: HEADRACE_S3_REGION, value: {{ .s3.region | quote }} }
{{- if .s3.endpoint }}
- { name: HEADRACE_S3_ENDPOINT, value: {{ .s3.endpoint | quote }} }
{{- end }}
{{- if .s3.secret }}
- { name: AWS_SHARED_CREDENTIALS_FILE, value: /etc/headrace/s3/credentials }
{{- end }}
{{- end }}
{{- if .firstStart.ownerEmail }}
- { name: HEADRACE_OWNER_EMAIL, value: {{ .firstStart.ownerEmail | quote }} }
{{- end }}
{{- if .firstStart.hasPassword }}
- { name: HEADRACE_OWNER_PASSWORD_FILE, value: /etc/headrace/first-start/password }
{{- end }}
{{- if .firstStart.hasBootstrapKey }}
- { name: HEADRACE_BOOTSTRAP_KEY_FILE, value: /etc/headrace/first-start/bootstrapKey }
{{- end }}
{{- if .config }}
- { name: HEADRACE_CONFIG_FILE, value: /etc/headrace/config/config.json }
{{- end }}
{{- if .metrics.enabled }}
- { name: HEADRACE_METRICS_LISTEN, value: '0.0.0.0:9464' }
{{- end }}
{{- range $name, $value := .env }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}
{{- end }}

{{- define "headrace.serviceMounts" -}}
{{ include "headrace.databaseMounts" .root }}
{{ include "headrace.tlsMounts" .root }}
- { name: data, mountPath: /var/lib/headrace }
- { name: tmp, mountPath: /tmp }
{{- with .root.Values }}
{{- if .s3.secret }}
- { name: s3, mountPath: /etc/headrace/s3, readOnly: true }
{{- end }}
{{- if .firstStart.secret }}
- { name: first-start, mountPath: /etc/headrace/first-start, readOnly: true }
{{- end }}
{{- if .config }}
- { name: config, mountPath: /etc/headrace/config, readOnly: true }
{{- end }}
{{- end }}
{{- end }}

{{- define "headrace.serviceVolumes" -}}
{{ include "headrace.databaseVolumes" .root }}
{{ include "headrace.tlsVolumes" (merge (dict "mode" "0440") .) }}
- name: data
  {{- if .root.Values.sharedData.existingClaim }}
  persistentVolumeClaim: { claimName: {{ .root.Values.sharedData.existingClaim }} }
  {{- else }}
  emptyDir: {}
  {{- end }}
- name: tmp
  emptyDir: {}
{{- with .root.Values }}
{{- if .s3.secret }}
- name: s3
  secret: { secretName: {{ .s3.secret }}, defaultMode: 0440 }
{{- end }}
{{- if .firstStart.secret }}
- name: first-start
  secret: { secretName: {{ .firstStart.secret }}, defaultMode: 0440 }
{{- end }}
{{- if .config }}
- name: config
  configMap: { name: {{ include "headrace.name" $.root }} }
{{- end }}
{{- end }}
{{- end }}
