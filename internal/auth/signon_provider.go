package auth

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/sync/singleflight"
)

const (
	// signOnTimeout bounds a call to an identity provider.
	signOnTimeout = 10 * time.Second
	// signOnPause is for how long a provider that was away is not asked again.
	signOnPause = time.Second
	// signOnRefresh is the age from which a provider's description is read again, beside the log-in that notices. One that does not
	// explain a token is read again at once when it is older than signOnRecent.
	signOnRefresh, signOnRecent = 10 * time.Minute, 30 * time.Second
)

// provider is the description of an identity provider: its addresses, algorithms and keys. They change while the process runs.
type provider struct {
	issuer string
	calls  *http.Client
	now    func() time.Time
	asking singleflight.Group

	mu     sync.Mutex     // never held over a call
	known  *oidc.Provider // nil until the provider has answered
	readAt time.Time
	away   error // of the last call that it has not answered
	awayAt time.Time
}

func newProvider(issuer string) *provider {
	return &provider{issuer: issuer, calls: &http.Client{Timeout: signOnTimeout}, now: time.Now}
}

// discover is the provider's description. One that is old is given all the same, and read again beside the caller: a provider that is
// away for a moment still signs people in as long as its keys are known.
func (p *provider) discover(ctx context.Context) (*oidc.Provider, error) {
	known, err := p.last()

	switch {
	case err != nil:
		return nil, err
	case known == nil:
		return p.read(ctx)
	case p.olderThan(signOnRefresh) && p.mayAsk():
		p.ask(ctx)
	}

	return known, nil
}

// renew reads the description again when it is not recent. It reports whether it is another one now.
func (p *provider) renew(ctx context.Context) (*oidc.Provider, bool) {
	if !p.olderThan(signOnRecent) || !p.mayAsk() {
		return nil, false
	}

	now, err := p.read(ctx)

	return now, err == nil
}

// read waits for the description, together with all who want it, and not longer than its own time.
func (p *provider) read(ctx context.Context) (*oidc.Provider, error) {
	select {
	case answer := <-p.ask(ctx):
		now, _ := answer.Val.(*oidc.Provider)

		return now, answer.Err
	case <-ctx.Done():
		return nil, fmt.Errorf("discover identity provider: %w", ctx.Err())
	}
}

// ask begins to read the description, unless that is under way.
func (p *provider) ask(ctx context.Context) <-chan singleflight.Result {
	// The keys are fetched for as long as the process runs.
	long := oidc.ClientContext(context.WithoutCancel(ctx), p.calls)

	return p.asking.DoChan("", func() (any, error) {
		if !p.mayAsk() {
			return p.last()
		}

		now, err := oidc.NewProvider(long, p.issuer)

		p.mu.Lock()
		defer p.mu.Unlock()

		if err != nil {
			p.away, p.awayAt = fmt.Errorf("discover identity provider: %w", err), p.now()

			return nil, p.away
		}

		p.known, p.readAt, p.away = now, p.now(), nil

		return now, nil
	})
}

// last is the provider when it has answered, and why it has not when it was asked a moment ago; else both are nil.
func (p *provider) last() (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.known == nil && p.away != nil && p.now().Sub(p.awayAt) < signOnPause {
		return nil, p.away
	}

	return p.known, nil
}

func (p *provider) olderThan(age time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.now().Sub(p.readAt) >= age
}

// mayAsk reports whether the provider has not just been away, or just answered another caller.
func (p *provider) mayAsk() bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	justAway := p.away != nil && p.now().Sub(p.awayAt) < signOnPause
	justRead := p.known != nil && p.now().Sub(p.readAt) < signOnRecent

	return !justAway && !justRead
}
