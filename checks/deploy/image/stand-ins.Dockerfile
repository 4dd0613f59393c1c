# PostgreSQL and HAProxy of Debian, in place of the images that compose.yaml names.
ARG BASE

FROM ${BASE} AS postgres
RUN apt-get update \
 && apt-get install -y --no-install-recommends postgresql \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
 && ln -s /usr/lib/postgresql/*/bin/* /usr/local/bin/
# What the image of this name does with its variables.
RUN printf '%s\n' '#!/bin/sh' 'set -eu' \
      'data=/var/lib/postgresql/data' \
      'chown postgres /var/lib/postgresql' \
      'cp "$POSTGRES_PASSWORD_FILE" /run/password && chown postgres /run/password' \
      'as() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }' \
      'if ! test -e "$data"; then' \
      '  as initdb -D "$data" --username="$POSTGRES_USER" --pwfile=/run/password --auth-host=scram-sha-256 --auth-local=trust --no-sync' \
      '  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"' \
      '  echo "CREATE DATABASE $POSTGRES_DB" | as postgres --single -D "$data" postgres' \
      'fi' \
      'exec setpriv --reuid=postgres --regid=postgres --init-groups postgres -D "$data" -c listen_addresses="*"' \
      > /usr/local/bin/entrypoint \
 && chmod 0755 /usr/local/bin/entrypoint
ENTRYPOINT ["/usr/local/bin/entrypoint"]

FROM ${BASE} AS haproxy
RUN apt-get update \
 && apt-get install -y --no-install-recommends haproxy \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
USER haproxy
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
