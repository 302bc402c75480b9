package admission

import (
	"context"
	"math/rand/v2"
	"time"

	"rihla/internal/config"
	"rihla/models"
)

// Limits are one limiter for each gateway. The zero value and nil admit everything.
type Limits struct {
	limiters map[models.Gateway]*limiter
	refused  func(models.Gateway)
}

// Metrics show what the limits do.
type Metrics interface {
	// AdmissionState shows what read returns whenever the metrics are looked at.
	AdmissionState(gateway models.Gateway, read func() (limit, inflight int))
	// AdmissionRefused counts a request that was not admitted.
	AdmissionRefused(gateway models.Gateway)
}

// New makes the limits of a configuration; a target of 0 switches them off.
func New(c config.Admission, m Metrics) *Limits {
	l := &Limits{limiters: map[models.Gateway]*limiter{}, refused: m.AdmissionRefused}
	if c.Target == 0 {
		return l
	}

	for _, gateway := range models.Gateways() {
		one := newLimiter(c, time.Now)
		l.limiters[gateway] = one
		m.AdmissionState(gateway, one.state)
	}

	return l
}

// Admit takes a place for a payment by the method, for which it waits for maxWait at most. ok is false when there is none; then After says
// how long to wait. The permit has to be released.
func (l *Limits) Admit(ctx context.Context, method models.PaymentMethod) (p *Permit, ok bool) {
	if l == nil {
		return nil, true
	}

	one := l.limiters[method.Gateway()]
	if one == nil {
		return nil, true
	}

	if p, ok = one.acquire(ctx); !ok {
		l.refused(method.Gateway())
	}

	return p, ok
}

// After is how long a client that was refused should wait: 1 to 3 s, drawn, so that those refused together do not come back together.
func (l *Limits) After() time.Duration {
	const longest = 3

	return time.Duration(1+rand.IntN(longest)) * time.Second //nolint:gosec // no secret
}
