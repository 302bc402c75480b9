// Package admission bounds how many payments one API process has under way to their checkouts. Each gateway has a limit of its own, which
// follows the measured latency of the service's own parts: what a gateway takes is not counted.
package admission
