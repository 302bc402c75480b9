package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"

	"rihla/internal/config"
)

const (
	jwksTimeout = 3 * time.Second
	// jwksRefresh is how long a key that the issuer withdrew is believed at most.
	jwksRefresh = 5 * time.Minute
	// jwksUnknownKey is how often a token with an unknown kid may make us ask the issuer again.
	jwksUnknownKey = 30 * time.Second
	maxJWKSBytes   = 1 << 20
)

// trustExternal believes the keys that source publishes, for algorithms with public keys only.
func trustExternal(ctx context.Context, source config.JWKSSource, tokens config.Tokens, log *slog.Logger) (trust, error) {
	remote, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{source.URL}, keyfunc.Override{
		Client: &http.Client{
			Transport:     limitedBody{},
			Timeout:       jwksTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("a key set does not redirect") },
		},
		HTTPTimeout:       jwksTimeout,
		RateLimitWaitMax:  jwksTimeout,
		RefreshInterval:   jwksRefresh,
		RefreshUnknownKID: rate.NewLimiter(rate.Every(jwksUnknownKey), 1),
		RefreshErrorHandlerFunc: func(string) func(context.Context, error) {
			return func(ctx context.Context, err error) {
				log.WarnContext(ctx, "keys of external token issuer not refreshed", "issuer", source.Issuer, "error", err)
			}
		},
	})
	if err != nil {
		return trust{}, fmt.Errorf("keys of token issuer %s: %w", source.Issuer, err)
	}

	keys, err := keyfunc.New(keyfunc.Options{
		Ctx: ctx, Storage: remote.Storage(), UseWhitelist: []jwkset.USE{jwkset.UseSig, ""}, // "" is a key without `use`
	})
	if err != nil {
		return trust{}, fmt.Errorf("keys of token issuer %s: %w", source.Issuer, err)
	}

	options := append(
		parserOptions(source.Issuer, tokens.Audience, []string{algEdDSA, "RS256", "ES256"}),
		jwt.WithLeeway(externalLeeway),
	)

	return trust{
		external: true,
		roles:    tokens.ExternalRoles,
		parser:   jwt.NewParser(options...),
		keys: func(ctx context.Context) jwt.Keyfunc {
			find := keys.KeyfuncCtx(ctx)

			return func(t *jwt.Token) (any, error) {
				// Without a kid the library would try every key.
				if _, err := keyID(t); err != nil {
					return nil, err
				}

				return find(t)
			}
		},
	}, nil
}

// limitedBody keeps a misbehaving issuer from filling our memory.
type limitedBody struct{}

// RoundTrip implements http.RoundTripper.
func (limitedBody) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}

	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxJWKSBytes), resp.Body}

	return resp, nil
}
