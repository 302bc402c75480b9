package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// signOnClaims are what an identity provider says of who has logged in, in the ID token or by its UserInfo.
type signOnClaims struct {
	Subject  string      `json:"sub"`
	Email    string      `json:"email"`
	Verified *claimBool  `json:"email_verified"`
	Methods  claimTexts  `json:"amr"`
	Class    string      `json:"acr"`
	At       claimMoment `json:"auth_time"`
}

// complete reports whether UserInfo could add nothing.
func (c *signOnClaims) complete() bool {
	return c.Email != "" && c.Verified != nil && (len(c.Methods) > 0 || c.Class != "")
}

// add takes from UserInfo what the ID token leaves open. What the token says stays: an address that it calls unverified is.
func (c *signOnClaims) add(info *signOnClaims) {
	if c.Email == "" {
		c.Email, c.Verified = info.Email, info.Verified
	}

	if c.Verified == nil && strings.EqualFold(c.Email, info.Email) {
		c.Verified = info.Verified
	}

	if len(c.Methods) == 0 && c.Class == "" {
		c.Methods, c.Class = info.Methods, info.Class
	}
}

// readClaims reads UserInfo, whose subject must be the token's (OpenID Connect Core §5.3.2).
func readClaims(info *oidc.UserInfo, subject string) (*signOnClaims, error) {
	var c signOnClaims
	if err := info.Claims(&c); err != nil {
		return nil, err
	}

	if c.Subject != subject {
		return nil, errors.New("the subject of UserInfo is not the token's")
	}

	return &c, nil
}

// claimBool is true or false, which some providers write as text.
type claimBool bool

// UnmarshalJSON implements json.Unmarshaler.
func (b *claimBool) UnmarshalJSON(text []byte) error {
	switch strings.ToLower(strings.Trim(string(text), `"`)) {
	case "true":
		*b = true
	case "false":
		*b = false
	default:
		return fmt.Errorf("%.20q is neither true nor false", text)
	}

	return nil
}

// claimTexts is a list of texts; some providers write one text, or several with spaces between them.
type claimTexts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *claimTexts) UnmarshalJSON(text []byte) error {
	var one string
	if err := json.Unmarshal(text, &one); err == nil {
		*t = strings.Fields(one)

		return nil
	}

	return json.Unmarshal(text, (*[]string)(t))
}

// claimMoment is a moment in seconds, which some providers write as text; zero when there is none.
type claimMoment struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (m *claimMoment) UnmarshalJSON(text []byte) error {
	plain := strings.Trim(string(text), `"`)
	if plain == "null" {
		return nil
	}

	seconds, err := strconv.ParseFloat(plain, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return fmt.Errorf("%.20q is no moment", text)
	}

	m.Time = time.Unix(int64(seconds), 0)

	return nil
}
