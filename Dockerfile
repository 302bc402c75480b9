# For docker-compose.yml, to try the service out: the build has the sandbox gateway and makes data up. A deployment uses the image of
# tools/image (docs/deploy.md). Tags say which release it is, digests that it is the same image everywhere: docs/security.md has how they
# are raised.
FROM golang:1.26.8@sha256:6c2a5538f964f1c82f97ad14988bf05de100d922d159d0e398b54c7b0ca0c6c9 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /rihla . && mkdir /data

FROM gcr.io/distroless/static-debian12:nonroot@sha256:afa5c872c891853ca7fcf1f12c3edb23f7eeef36189728842dd51042ff57f7ab
COPY --from=build /rihla /rihla
# Photos without MEDIA_URL and messages without SMTP_URL are files here. 65532 is nonroot; a new volume gets the same owner.
COPY --from=build --chown=65532:65532 /data /data
# A container refuses what is for trying out (seed, published secrets, the sandbox gateway) unless it is told that it is for development.
ENV APP_ENV=production DATA_DIR=/data
VOLUME /data
USER nonroot
ENTRYPOINT ["/rihla"]
