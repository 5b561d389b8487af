#!/bin/sh
# Makes the secrets that compose.yaml mounts, once: what is there already is left alone.
# The folder is closed to others; the files in it are not, because in the containers other users read them.
set -eu
cd -- "$(dirname -- "$0")/.."

umask 077
mkdir -p secrets
random() { openssl rand -hex 24; }
keep() { # keep NAME: writes standard input, unless the secret exists
  if [ -e "secrets/$1" ]; then cat >/dev/null; else cat >"secrets/$1"; fi
  chmod 444 "secrets/$1"
}

random | keep postgres_password
printf 'postgres://svc:%s@postgres:5432/svc\n' "$(cat secrets/postgres_password)" | keep database_url
openssl rand -base64 32 | keep secret_key
printf 'svc_key_%s\n' "$(random)" | keep founder_api_key
random | keep metrics_token
# Empty until you have them.
printf '' | keep anthropic_api_key
printf '' | keep openai_api_key

printf 'secrets/ is ready. Keep a copy of secret_key elsewhere; the founder key is in secrets/founder_api_key.\n'
