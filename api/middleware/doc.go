// Package middleware is the chain of checks in front of every operation of the API: trace ids, one log line per request,
// the caller's identity, idempotency keys and the error envelope. It asks contract what the OpenAPI document allows and
// ratelimit how much, in the order 413, 401, 429, 403, 400/415/422, 404.
package middleware
