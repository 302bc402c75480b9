package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"rihla/internal/clock"
	"rihla/internal/config"
	"rihla/models"
)

const (
	// maxTokenBytes bounds what is parsed at all; ours have about 500 bytes, those of external issuers a few thousand.
	maxTokenBytes = 8 << 10
	// externalLeeway is the clock difference that an external issuer may have. Our own tokens have none.
	externalLeeway = 30 * time.Second
)

// Principal is the user that a verified access token speaks for.
type Principal struct {
	UserID uuid.UUID
	Role   models.Role
	// ProviderID is set exactly for the provider roles.
	ProviderID uuid.UUID
	// TokenID is the token's jti; empty when an external issuer gives none.
	TokenID string
	// Generation is that of the account's tokens to which this one belongs; External ones have none.
	Generation int
	// External tells a token of another issuer from one of our own.
	External bool
	// SessionID is the session that the token belongs to; External ones have none.
	SessionID uuid.UUID
	// IssuerFactor says that an identity provider has seen a second factor.
	IssuerFactor bool
	// AuthenticatedAt is when the user of an External token has proved who they are, as its issuer says; else zero.
	AuthenticatedAt time.Time
	// MustEnrol says that the account must have a second factor and has none (Gate).
	MustEnrol bool
}

// claims are those of an access token (rules: identity.tokens).
type claims struct {
	jwt.RegisteredClaims

	Role       models.Role `json:"role"`
	ProviderID string      `json:"provider_id,omitempty"`
	Generation int         `json:"gen,omitempty"`
	SessionID  string      `json:"sid,omitempty"`
	// Methods are how the user has proved who they are (RFC 8176), and ContextClass how well, as an external issuer says.
	Methods         claimTexts  `json:"amr,omitempty"`
	ContextClass    string      `json:"acr,omitempty"`
	AuthenticatedAt claimMoment `json:"auth_time,omitzero"`
}

// Issuer signs our own access tokens. It is safe for concurrent use.
type Issuer struct {
	keys   *Keyring
	tokens config.Tokens
	now    func() time.Time
}

// NewIssuer signs with the keyring's first key, for the issuer, audience and lifetime of tokens.
func NewIssuer(keys *Keyring, tokens config.Tokens) *Issuer {
	return &Issuer{keys: keys, tokens: tokens, now: clock.Now}
}

// Issue makes an access token for UserID, Role, ProviderID, Generation, SessionID and IssuerFactor of p; expiresIn is its lifetime in
// seconds.
func (i *Issuer) Issue(p Principal) (token string, expiresIn int, err error) {
	now := i.now()
	c := claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    i.tokens.Issuer,
			Subject:   p.UserID.String(),
			Audience:  jwt.ClaimStrings{i.tokens.Audience},
			IssuedAt:  jwt.NewNumericDate(now),
			ExpiresAt: jwt.NewNumericDate(now.Add(i.tokens.AccessTTL)),
			ID:        uuid.NewString(),
		},
		Role:       p.Role,
		Generation: p.Generation,
	}

	if p.ProviderID != uuid.Nil {
		c.ProviderID = p.ProviderID.String()
	}

	if p.SessionID != uuid.Nil {
		c.SessionID = p.SessionID.String()
	}

	if p.IssuerFactor {
		c.Methods = []string{methodMFA}
	}

	// A token that we would not accept is not issued either.
	if _, err = c.principal(); err != nil {
		return "", 0, fmt.Errorf("issue access token: %w", err)
	}

	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, c)
	t.Header["kid"] = i.keys.kid

	if token, err = t.SignedString(i.keys.signing); err != nil {
		return "", 0, fmt.Errorf("sign access token: %w", err)
	}

	return token, int(i.tokens.AccessTTL / time.Second), nil
}

// Verifier checks access tokens: our own, and those of the external issuers that are configured. Each issuer's tokens
// are checked with its own keys only. It is safe for concurrent use.
type Verifier struct {
	own      trust
	external map[string]trust
	verified verifiedTokens
}

// trust is what makes the tokens of one issuer believable.
type trust struct {
	parser *jwt.Parser
	keys   func(context.Context) jwt.Keyfunc
	// external issuers speak for accounts of these roles only.
	external bool
	roles    []models.Role
}

// NewVerifier trusts the keyring, and the external issuers of tokens. Their keys are fetched now and every jwksRefresh
// until ctx ends; an issuer that is down delays nothing for long: its keys are asked for again when a token needs them,
// and log says so.
func NewVerifier(ctx context.Context, keys *Keyring, tokens config.Tokens, log *slog.Logger) (*Verifier, error) {
	verified, err := newVerifiedTokens()
	if err != nil {
		return nil, fmt.Errorf("tokens that were verified: %w", err)
	}

	v := &Verifier{
		verified: verified,
		own: trust{
			parser: jwt.NewParser(parserOptions(tokens.Issuer, tokens.Audience, []string{algEdDSA})...),
			keys:   func(context.Context) jwt.Keyfunc { return keys.find },
		},
		external: make(map[string]trust, len(tokens.JWKS)),
	}

	for _, source := range tokens.JWKS {
		external, err := trustExternal(ctx, source, tokens, log)
		if err != nil {
			return nil, err
		}

		v.external[source.Issuer] = external
	}

	return v, nil
}

// Verify checks signature, issuer, audience, expiry and our own claims. Every error is UNAUTHENTICATED.
func (v *Verifier) Verify(ctx context.Context, token string) (Principal, error) {
	if len(token) > maxTokenBytes {
		return Principal{}, errInvalidToken()
	}

	hash := sha256.Sum256([]byte(token))
	if p, ok := v.verified.find(hash); ok {
		return p, nil
	}

	from, err := v.trustFor(token)
	if err != nil {
		return Principal{}, errInvalidToken()
	}

	var c claims
	if _, err = from.parser.ParseWithClaims(token, &c, from.keys(ctx)); err != nil {
		// The claims are checked after the signature, so that a caller learns nothing about a token that is not theirs.
		if errors.Is(err, jwt.ErrTokenExpired) {
			return Principal{}, models.Because(models.CauseTokenExpired)
		}

		return Principal{}, errInvalidToken()
	}

	p, err := c.principal()
	if err != nil || from.external && !slices.Contains(from.roles, p.Role) {
		return Principal{}, errInvalidToken()
	}

	if p.External = from.external; p.External {
		p.Generation, p.SessionID = 0, uuid.Nil // they say nothing about our accounts

		if at := c.AuthenticatedAt.Time; !at.After(time.Now().Add(externalLeeway)) {
			p.AuthenticatedAt = at
		}
	} else {
		v.verified.add(hash, p, c.ExpiresAt.Time)
	}

	return p, nil
}

// trustFor finds who claims to have signed the token. The claim is not believed: the parser of that issuer checks it.
func (v *Verifier) trustFor(token string) (trust, error) {
	if len(v.external) == 0 {
		return v.own, nil
	}

	var c jwt.RegisteredClaims
	if _, _, err := v.own.parser.ParseUnverified(token, &c); err != nil {
		return trust{}, fmt.Errorf("read issuer: %w", err)
	}

	if external, ok := v.external[c.Issuer]; ok {
		return external, nil
	}

	return v.own, nil
}

func errInvalidToken() error {
	return models.Because(models.CauseTokenInvalid)
}

func parserOptions(issuer, audience string, algorithms []string) []jwt.ParserOption {
	return []jwt.ParserOption{
		jwt.WithValidMethods(algorithms), jwt.WithIssuer(issuer), jwt.WithAudience(audience),
		jwt.WithExpirationRequired(), jwt.WithStrictDecoding(),
	}
}

// find is the public key that the token's kid names.
func (k *Keyring) find(t *jwt.Token) (any, error) {
	kid, err := keyID(t)
	if err != nil {
		return nil, err
	}

	public, ok := k.public[kid]
	if !ok {
		return nil, errors.New("unknown kid")
	}

	return public, nil
}

// keyID is the token's kid. A header that makes extensions critical is refused, because we know none (RFC 7515 §4.1.11).
func keyID(t *jwt.Token) (string, error) {
	if _, ok := t.Header["crit"]; ok {
		return "", errors.New("critical header extension")
	}

	kid, ok := t.Header["kid"].(string)
	if !ok || kid == "" {
		return "", errors.New("no kid")
	}

	return kid, nil
}

// principal checks the claims that are ours: a known role, ids that are ids, and a provider exactly where the role has one.
func (c *claims) principal() (Principal, error) {
	p := Principal{Role: c.Role, TokenID: c.ID, Generation: c.Generation}

	var err error
	if p.UserID, err = uuid.Parse(c.Subject); err != nil || p.UserID == uuid.Nil {
		return Principal{}, errors.New("sub is not a user id")
	}

	if !slices.Contains(models.Roles(), c.Role) {
		return Principal{}, fmt.Errorf("unknown role %q", c.Role)
	}

	if c.ProviderID != "" {
		if p.ProviderID, err = uuid.Parse(c.ProviderID); err != nil {
			return Principal{}, errors.New("provider_id is not an id")
		}
	}

	if c.SessionID != "" {
		if p.SessionID, err = uuid.Parse(c.SessionID); err != nil {
			return Principal{}, errors.New("sid is not an id")
		}
	}

	p.IssuerFactor = SaysSecondFactor(c.Methods, c.ContextClass)

	if c.Role.IsProvider() != (p.ProviderID != uuid.Nil) {
		return Principal{}, fmt.Errorf("role %s and provider_id do not go together", c.Role)
	}

	return p, nil
}
