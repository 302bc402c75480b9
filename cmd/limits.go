package cmd

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"rihla/api/ratelimit"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/telemetry"
)

// openLimiter counts requests in Redis when there is one, else in memory.
func openLimiter(
	ctx context.Context, cfg config.Config, keys *auth.Keyring, m *telemetry.Metrics, open *closers,
) (ratelimit.Limiter, error) {
	if !cfg.Redis.URL.IsSet() {
		return ratelimit.NewMemory(), nil
	}

	// All replicas have the signing key, and nothing else has it.
	secret, err := keys.Derive("rate limits")
	if err != nil {
		return nil, fmt.Errorf("key of the rate limits: %w", err)
	}

	redis.SetLogger(redisLog{})

	limiter, err := ratelimit.NewRedis(ctx, ratelimit.RedisOptions{
		URL: cfg.Redis.URL.Reveal(), Secret: secret, Timeout: cfg.Redis.Timeout, Log: slog.Default(), Observe: m.RateLimitsShared,
	})
	if err != nil {
		return nil, err
	}

	open.add(func() { _ = limiter.Close() })

	return limiter, nil
}

// redisLog keeps what the Redis client has to say out of the way: the limiter tells of an outage itself, once.
type redisLog struct{}

// Printf implements the client's logger.
func (redisLog) Printf(ctx context.Context, format string, v ...any) {
	slog.DebugContext(ctx, fmt.Sprintf(format, v...), "component", "redis")
}
