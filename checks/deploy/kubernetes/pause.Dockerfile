# Keeps the namespaces of a Pod, in place of registry.k8s.io/pause.
ARG BASE

FROM ${BASE} AS pause
ENTRYPOINT ["/usr/bin/sleep", "infinity"]
