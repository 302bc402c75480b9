package api

import (
	"bytes"
	"strings"

	"github.com/valyala/fasthttp"
)

// ambiguous reports whether two readers may see the end of a request at different places, or two different requests:
// then what a proxy in front takes for a part of this request could be served as another one. It looks at the headers
// as they came, for what the server itself lets through: lines that end without a carriage return, folded lines, names
// that are no tokens, a length beside chunks, a transfer coding other than chunked, no host or one with a
// user in front, and versions that are none of ours.
func ambiguous(h *fasthttp.RequestHeader) bool {
	if protocol := h.Protocol(); !bytes.Equal(protocol, []byte("HTTP/1.1")) && !bytes.Equal(protocol, []byte("HTTP/1.0")) {
		return true
	}

	var seen endings

	for line := range bytes.Lines(h.RawHeaders()) {
		line, ok := bytes.CutSuffix(line, []byte("\r\n"))
		if !ok {
			return true
		}

		if len(line) == 0 {
			continue // the end of the headers
		}

		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !isToken(name) || !seen.add(name, bytes.Trim(value, " \t")) {
			return true
		}
	}

	return seen.length && seen.coding || !seen.host && !isBareProbe(h, seen.length || seen.coding)
}

// endings are the headers that have been seen of those that say where a request ends and which host it is for.
type endings struct {
	length, coding, host bool
}

// add notes a header if it is one of them, and reports whether all readers take its value for the same.
func (e *endings) add(name, value []byte) bool {
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		e.length = true
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		e.coding = true

		return bytes.EqualFold(value, []byte("chunked"))
	case bytes.EqualFold(name, []byte("Host")):
		e.host = len(value) > 0

		return !bytes.ContainsAny(value, "@ \t,")
	}

	return true
}

// isBareProbe reports whether a request is the plain health check of a load balancer: HTTP/1.0, which has no Host header, and no
// body. HAProxy asks so unless it is configured otherwise. The answer does not depend on the host, and the connection ends with it.
func isBareProbe(h *fasthttp.RequestHeader, body bool) bool {
	if body || !bytes.Equal(h.Protocol(), []byte("HTTP/1.0")) || !h.IsGet() && !h.IsHead() {
		return false
	}

	target := string(h.RequestURI())

	return target == "/healthz" || target == "/readyz"
}

// isToken reports whether a header may have this name (RFC 9110, section 5.6.2). A folded line begins with a space and
// is none.
func isToken(name []byte) bool {
	for _, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}

	return len(name) > 0
}
