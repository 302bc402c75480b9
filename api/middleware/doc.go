// Package middleware is what every operation of the API shares: trace ids, one log line per request, the error
// envelope, and the checks in their order (413, 401, 429, 403, 400/415/422, 404), driven by the OpenAPI
// document, so that document, access matrix and validation cannot drift apart.
package middleware
