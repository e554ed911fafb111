# The release passes the digest: --build-arg GO_IMAGE=golang:1.26-bookworm@sha256:…
ARG GO_IMAGE=golang:1.26-bookworm

# BuildKit names the platforms, and Go builds for the other one without emulation. The older builder
# names none: there the image is for linux/amd64.
FROM --platform=${BUILDPLATFORM:-linux/amd64} ${GO_IMAGE} AS build
ARG TARGETARCH
ARG VERSION=
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY main.go LICENSE THIRD_PARTY_LICENSES ./
COPY engine engine
COPY internal internal
COPY summary summary
RUN CGO_ENABLED=0 GOOS=linux GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /oloproof .

# A container action runs as root, since the runner's files belong to root, and in the workspace, which
# the runner sets: hence no USER and no WORKDIR.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /oloproof /oloproof
ENTRYPOINT ["/oloproof", "action"]
