package ratelimit

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	rate "github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/sony/gobreaker/v2"
)

// RedisOptions are what a Redis limiter is made of.
type RedisOptions struct {
	// URL is redis:// or rediss:// (TLS), with user, password and number of the database if there are any.
	URL string
	// Secret keys the hash under which a caller is counted. All processes that share a count need the same one.
	Secret []byte
	// Timeout bounds one count, connecting included.
	Timeout time.Duration
	Log     *slog.Logger
	// Observe is called with whether counts are shared, at the start and at every change. May be nil.
	Observe func(shared bool)
}

// Redis is a Limiter whose counts all processes on one Redis share: GCRA by redis_rate, with the same visible
// numbers as Memory. While Redis does not answer, each process counts for itself in memory: payments and
// webhooks go on, and a flood still meets a limit. One request a second then finds out whether Redis is back; no other
// waits for it.
type Redis struct {
	client  *redis.Client
	shared  *rate.Limiter
	local   *Memory
	secret  []byte
	timeout time.Duration
	now     func() time.Time
	// breaker is open while Redis does not answer, and lets one call through per pause to look whether it does.
	breaker *gobreaker.TwoStepCircuitBreaker[any]
	cause   atomic.Value // text of the last failure, a string
	log     *slog.Logger
	observe func(shared bool)
}

// breakerPause is the time between two looks at a Redis that does not answer.
const breakerPause = time.Second

// NewRedis connects, and does not fail when Redis is away. The error says that the options are no good, and shows
// nothing of the URL, which may hold a password.
func NewRedis(ctx context.Context, o RedisOptions) (*Redis, error) {
	if len(o.Secret) == 0 || o.Timeout <= 0 || o.Log == nil {
		return nil, errors.New("redis limiter: secret, timeout and logger are required")
	}

	options, err := redis.ParseURL(o.URL)
	if err != nil {
		return nil, errors.New("redis limiter: the URL cannot be read")
	}

	options.DialTimeout, options.ReadTimeout, options.WriteTimeout, options.PoolTimeout = o.Timeout, o.Timeout, o.Timeout, o.Timeout
	options.ContextTimeoutEnabled = true
	// A count that failed is made in memory: to try again would only make its request wait.
	options.MaxRetries, options.DialerRetries = -1, 1
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}

	client := redis.NewClient(options)
	r := &Redis{
		client: client, shared: rate.NewLimiter(client), local: NewMemory(), secret: o.Secret,
		timeout: o.Timeout, now: time.Now, log: o.Log, observe: o.Observe,
	}

	if r.observe == nil {
		r.observe = func(bool) {}
	}

	r.breaker = gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		Name: "redis", MaxRequests: 1, Timeout: breakerPause,
		ReadyToTrip:   func(n gobreaker.Counts) bool { return n.ConsecutiveFailures > 0 },
		OnStateChange: r.changed,
	})

	r.observe(true)
	r.ping(ctx)

	return r, nil
}

// ping tells the operator at the start, and not at the first request, that Redis is away.
func (r *Redis) ping(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()

	_ = r.call(func() error { return r.client.Ping(ctx).Err() })
}

// Close ends the connections.
func (r *Redis) Close() error { return r.client.Close() }

// Allow implements Limiter; it never fails.
func (r *Redis) Allow(ctx context.Context, key string, perMinute int) (
	remaining int, reset time.Time, retryAfter time.Duration, ok bool, err error,
) {
	var result *rate.Result

	err = r.call(func() (err error) {
		// A caller that went away says nothing about Redis.
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeout)
		defer cancel()

		result, err = r.shared.Allow(asking, r.key(key), rate.PerMinute(perMinute))

		return err
	})
	if err != nil {
		return r.local.Allow(ctx, key, perMinute)
	}

	reset = r.now().Add(result.ResetAfter)

	if result.Allowed == 0 {
		return 0, reset, result.RetryAfter, false, nil
	}

	return left(perMinute, result.ResetAfter), reset, 0, true, nil
}

// Return implements Limiter; it never fails. Redis keeps a last one for up to an interval: its script writes no allowance that is
// whole again. A token that was taken while Redis was away is in memory, and is returned there.
func (r *Redis) Return(ctx context.Context, key string, perMinute int) error {
	err := r.call(func() error {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeout)
		defer cancel()

		_, err := r.shared.AllowN(asking, r.key(key), rate.PerMinute(perMinute), -1)

		return err
	})
	if notAsked(err) {
		return r.local.Return(ctx, key, perMinute)
	}

	return nil
}

// key is the name of a count in Redis: its kind in plain text, and its subject (an address, a user, an account's email)
// only as a keyed hash: without the secret it cannot be compared with guessed names.
func (r *Redis) key(key string) string {
	kind, whose, _ := strings.Cut(key, ":")
	mac := hmac.New(sha256.New, r.secret)
	mac.Write([]byte(whose))

	return "rihla:" + kind + ":" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

var errAborted = errors.New("the call to Redis was aborted")

// call asks Redis, unless the breaker is open. Answers that were on their way when it opened do not close it.
func (r *Redis) call(ask func() error) (err error) {
	done, err := r.breaker.Allow()
	if err != nil {
		return err
	}

	// A panic is a failure too: a breaker that never gets the result of its probe would stay half open.
	err = errAborted

	defer func() {
		if err != nil {
			r.cause.Store(err.Error())
		}

		done(err)
	}()

	err = ask()

	return err
}

// notAsked reports whether call has failed without asking.
func notAsked(err error) bool {
	return errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests)
}

// changed tells of the begin and of the end of an outage, once each. It is called under the breaker's own lock.
func (r *Redis) changed(_ string, from, to gobreaker.State) {
	switch {
	case to == gobreaker.StateClosed:
		r.observe(true)
		r.log.LogAttrs(context.Background(), slog.LevelInfo, "Redis answers again, rate limits are shared")
	case from == gobreaker.StateClosed:
		cause, _ := r.cause.Load().(string)

		r.observe(false)
		r.log.LogAttrs(context.Background(), slog.LevelWarn, "Redis does not answer, this process counts its rate limits alone",
			slog.String("error", cause))
	}
}
