# syntax=docker/dockerfile:1
# One image, one replica. docs/operations.md ("Deploy") tells what the sandbox needs of the container.

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# No dependency needs an install script, so none gets to run.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts ./scripts
COPY client-text ./client-text
COPY console ./console
COPY clients/typescript/src ./clients/typescript/src
COPY src ./src
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim
# Debian packages with the interpreters of your own agents, such as "python3 python3-venv".
ARG AGENT_PACKAGES=""
# bubblewrap makes the sandboxes; tini passes signals on and buries orphans.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap tini $AGENT_PACKAGES \
  && rm -rf /var/lib/apt/lists/* \
  && mkdir --mode=0700 /data && chown node:node /data \
  && ln -s /app/dist/svc.mjs /usr/local/bin/svc
WORKDIR /app
COPY package.json LICENSE THIRD-PARTY-LICENSES ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY wedges ./wedges
COPY blueprints ./blueprints
COPY presets ./presets

# A container that cannot isolate agents says why and stops; SVC_SANDBOX=auto would go on without.
ENV NODE_ENV=production \
  SVC_HOST=0.0.0.0 \
  SVC_PORT=8787 \
  SVC_DATA_DIR=/data \
  SVC_WEDGES_DIR=/app/wedges \
  SVC_BLUEPRINTS_DIR=/app/blueprints \
  SVC_SANDBOX=bwrap
USER node
VOLUME /data
EXPOSE 8787
# SIGTERM drains, which takes up to ten seconds: give it more before killing.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.SVC_PORT + '/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "svc"]
CMD ["serve"]
