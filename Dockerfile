FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /rihla . && mkdir /data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /rihla /rihla
# Photos without MEDIA_URL and messages without SMTP_URL are files here. 65532 is nonroot; a new volume gets the same owner.
COPY --from=build --chown=65532:65532 /data /data
# A container refuses what is for trying out (seed, published secrets, the sandbox gateway) unless it is told that it is for development.
ENV APP_ENV=production DATA_DIR=/data
VOLUME /data
USER nonroot
ENTRYPOINT ["/rihla"]
