#!/bin/sh
# Creates the secrets that compose.yaml mounts, and the empty folder config/. Existing secrets stay unchanged.
# Other users cannot open the folder; its files are readable, because the containers read them as other users.
set -eu
cd -- "$(dirname -- "$0")/.."

mkdir -p config
umask 077
mkdir -p secrets
random() { openssl rand -hex 24; }
create() { # create NAME: writes standard input to the secret, unless it exists
  if [ -e "secrets/$1" ]; then cat >/dev/null; else cat >"secrets/$1"; fi
  chmod 444 "secrets/$1"
}

random | create postgres_password
printf 'postgres://svc:%s@postgres:5432/svc\n' "$(cat secrets/postgres_password)" | create database_url
openssl rand -base64 32 | create secret_key
printf 'svc_key_%s\n' "$(random)" | create founder_api_key
random | create metrics_token
# Fill these files in if you have the keys.
printf '' | create anthropic_api_key
printf '' | create openai_api_key

printf 'created secrets/. Keep a copy of secret_key elsewhere; the founder key is in secrets/founder_api_key.\n'
