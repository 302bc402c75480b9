package media

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// Path is where the API serves photos; the photo's id follows.
const Path = "/api/v1/media/"

// Links makes addresses that open one photo for some time without a token, and recognizes its own. Processes with the
// same secrets accept each other's.
type Links struct {
	base    string
	secrets []string
	ttl     time.Duration
	now     func() time.Time
}

// NewLinks makes links at publicURL, signed with the first secret; all of them verify, so that a secret can be changed
// while links of the old one are about. A link opens for ttl at least and for twice that at most.
func NewLinks(publicURL string, secrets []string, ttl time.Duration, now func() time.Time) (*Links, error) {
	if len(secrets) == 0 || ttl <= 0 {
		return nil, errors.New("media: links need a secret and a time to live")
	}

	return &Links{base: publicURL + Path, secrets: secrets, ttl: ttl, now: now}, nil
}

// URL is the photo's address. It stays the same for as long as ttl, so that what a browser has kept is of use and two
// answers about the same thing are the same.
func (l *Links) URL(photo uuid.UUID) string {
	expires := strconv.FormatInt(l.now().Truncate(l.ttl).Add(2*l.ttl).Unix(), 10)
	signature := base64.RawURLEncoding.EncodeToString(sign(l.secrets[0], photo, expires))

	return l.base + photo.String() + "?" + url.Values{"expires": {expires}, "signature": {signature}}.Encode()
}

// Verify says until when a link opens. It does not when it is not ours or its time is over.
func (l *Links) Verify(photo uuid.UUID, expires, signature string) (until time.Time, ok bool) {
	given, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil {
		return time.Time{}, false
	}

	for _, secret := range l.secrets {
		// Every secret is tried, and in constant time: an answer's duration tells nothing of them.
		ok = hmac.Equal(given, sign(secret, photo, expires)) || ok
	}

	seconds, err := strconv.ParseInt(expires, 10, 64)
	until = time.Unix(seconds, 0)

	return until, ok && err == nil && l.now().Before(until)
}

// sign covers the whole meaning of a link; the first line keeps the secret's other uses, should it get some, apart.
func sign(secret string, photo uuid.UUID, expires string) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("rihla bus photo v1\n" + photo.String() + "\n" + expires))

	return mac.Sum(nil)
}
