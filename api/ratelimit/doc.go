// Package ratelimit counts requests per caller and minute, in memory or in a Redis that all processes share, and says with
// RATE_LIMITED and the X-RateLimit headers what is left.
package ratelimit
